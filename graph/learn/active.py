"""Active learning: which further match the environment is asked for, and how far a model follows.

Candidates that fit all that was recorded may still differ elsewhere. Where two of them part on a
position that play can reach, the environment is asked for a match through it (query by committee,
Seung et al. 1992). Where none part, it is asked in turn for a match of players that search, who
come where random play never does, and for one that meets what no recorded match has met: found by
exploration inside the model.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.recording import RecordPlan, record_matches
from agents.roles.modeller import PREDICTING
from games.checks.pairs import first_difference
from games.engine import sample_index
from games.environments import Environment, EnvironmentNotFoundError, ModuleEnvironment
from games.environments.reading import read_trajectories
from games.environments.registry import environment_named
from games.streams import stream
from games.table import Position
from games.trajectories import (
    OpenTrajectory,
    TrajectoryError,
    TrajectoryHeader,
    phases,
    taken,
    trajectory_of,
)
from games.values import CHANCE, TERMINAL, Action, Json, ModuleFault, State, canonical_key
from graph.learn.judging import module_of
from graph.learn.matches import ASKED, keep_matches, open_matches
from graph.learn.state import LearnContext, LearnState
from tools.differing import differential_sources
from tools.predicting.playing import Explorer
from tools.sandbox import SandboxTable
from tools.sandbox.module import environment_in
from tools.sources import find_game

_COMMITTEE = 4
_COMPARED_MATCHES = 20
_DIRECTED_MATCHES = 12
_EXPLORED_PLIES = 20_000
_SIMULATIONS = 30  # of a decision of players that search
_MOST_PLIES = 1000
_FROM, _WIDE = 12, 3  # positions of branch fidelity, and actions followed at each ply


def active(state: LearnState, runtime: Runtime[LearnContext]) -> Command[Literal["check"]]:
    """Ask the environment for the match that tells most, and test again with it."""
    context = runtime.context
    asked = list(context.material.asked[: state.asked])
    actions, why = _question(state, context)
    passing = [c for c in state.pool if c.outcome == "passed"]
    again = [c.model_copy(update={"findings": None}) for c in passing]
    try:
        with open_environment(context) as environment:
            if actions is None:
                found = _searched(environment, context, len(asked))
            else:
                found = _played(environment, actions, context.settings.seed, len(asked))
    except (ModuleFault, ValueError, LookupError, RuntimeError) as error:
        said = f"the environment failed, and is not asked again: {type(error).__name__}: {error}"
        update = {"asking": False, "questions": [*state.questions, said]}
        return Command(goto="check", update={**update, "candidates": again})
    keep_matches(context.folder, ASKED, [*asked, found])
    runtime.stream_writer({"node": "active", "match": len(asked) + 1, "because": why})
    questions = [*state.questions, f"{why} ({len(found.actions)} plies)"]
    update = {"asked": len(asked) + 1, "questions": questions}
    return Command(goto="check", update={**update, "candidates": again})


@contextmanager
def open_environment(context: LearnContext) -> Iterator[Environment]:
    """The environment that the matches were recorded in, in a worker.

    Raises:
        EnvironmentNotFoundError: If there is none with their parameters.
        ModuleFault: If it does not load.
    """
    name, header = context.settings.environment, context.material.header
    if not Path(name).exists():
        with environment_in(context.sandbox, environment_like(name, header)) as environment:
            yield environment
        return
    found = find_game(name)
    with context.sandbox.loaded("environment", found.source) as worker:
        table = SandboxTable(worker)
        yield ModuleEnvironment(found.name, header.num_players, header.parameters, "", table)


def require_recorded_start(context: LearnContext) -> None:
    """Refuse an environment that begins otherwise than the recorded matches.

    One that cannot be opened passes: the report says so where it is asked.

    Raises:
        TrajectoryError: Naming both, and where they differ.
    """
    start: State | None = None
    with (
        suppress(ModuleFault, ValueError, LookupError, RuntimeError),
        open_environment(context) as environment,
    ):
        start = environment.open(environment.num_players, environment.parameters).state
    recorded = context.material.start
    if start is not None and canonical_key(start) != canonical_key(recorded):
        path = first_difference(start, recorded) or "the whole of it"
        raise TrajectoryError(
            f"--environment {context.settings.environment} begins in another state than the "
            f"matches of {context.request.trajectories} ({path} differs); give the environment "
            "that they were recorded in"
        )


def environment_like(name: str, header: TrajectoryHeader) -> Environment:
    """The environment of that name, with seats and parameters as in recorded matches.

    Raises:
        EnvironmentNotFoundError: If there is none, or it is another one.
    """
    usual = environment_named(name)  # of some, parameters cannot be given
    if usual.name != header.environment:
        raise EnvironmentNotFoundError(
            f"the environment is {usual.name}; the matches were recorded in {header.environment}"
        )
    if usual.num_players == header.num_players and dict(usual.parameters) == header.parameters:
        return usual
    found = environment_named(name, header.parameters, header.num_players)
    if dict(found.parameters) != dict(header.parameters):
        raise EnvironmentNotFoundError(
            f"{name} has the parameters {dict(found.parameters)}; the matches were recorded with "
            f"{dict(header.parameters)}"
        )
    return found


def _question(state: LearnState, context: LearnContext) -> tuple[tuple[Action, ...] | None, str]:
    """Actions that the environment is to play, None for players that search there, and why."""
    header, start = context.material.header, context.material.start
    # One that some recorded match refutes has no say.
    able = [c for c in state.pool if state.judged[c.number].accuracy == 1.0]
    able.sort(key=lambda c: (-c.share_passed, -c.number))
    modules = {c.number: module_of(context, c.source, start) for c in able[:_COMMITTEE]}
    for one, other in combinations(modules, 2):
        try:
            found = differential_sources(
                context.sandbox,
                modules[one],
                modules[other],
                num_players=header.num_players,
                parameters=header.parameters,
                matches=_COMPARED_MATCHES,
                seed=context.settings.seed + state.asked,
                to_the_letter=True,
            ).divergence
        except ModuleFault:
            continue
        if found is not None:
            why = f"candidates {one} and {other} part on {found.about} after {found.ply} plies"
            return found.history, why
    if state.asked % 2 == 0:
        return None, "no candidates part: players that search"
    return _directed(context, modules[able[0].number], state)


def _directed(
    context: LearnContext, module: str, state: LearnState
) -> tuple[tuple[Action, ...], str]:
    """A match inside the model that meets the most of what no recorded match has met."""
    material = context.material
    known = open_matches([*material.training(state.promoted), *material.heldout(state.promoted)])
    seed = context.settings.seed + 1 + state.asked
    explorer, explored = _explored(context, module, known, seed)
    if explorer.broken:
        return explorer.broken, "the model fails there"
    played = [*explored, *context.play(module, _DIRECTED_MATCHES, seed).matches]
    covered = context.covered(module, PREDICTING, [*known, *played])
    met = frozenset[int]().union(*covered.met[: len(known)])
    new = [len(found - met) for found in covered.met[len(known) :]]
    for number, match in enumerate(played):
        new[number] += len(phases([match]) - phases(known))
        new[number] += len(taken([match]) - taken(known))
    best = max(range(len(played)), key=lambda number: new[number], default=None)
    if best is None or not new[best]:
        return (), "no candidates part, and play inside the model meets nothing new: any match"
    return played[best].actions, f"it meets {new[best]} things that no recorded match has met"


def _explored(
    context: LearnContext, module: str, known: Sequence[OpenTrajectory], seed: int
) -> tuple[Explorer, list[OpenTrajectory]]:
    """Beginnings of matches inside the model, each to an action of a kind that is new there."""
    header = context.material.header
    with context.sandbox.loaded("explorer", module) as worker:
        explorer = Explorer(
            SandboxTable(worker), header.num_players, header.parameters, known, seed
        )
        return explorer, explorer.matches(_EXPLORED_PLIES)


def _searched(environment: Environment, context: LearnContext, number: int) -> OpenTrajectory:
    """A match of the environment in which every seat searches."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "match.jsonl"
        seed = context.settings.seed + number
        plan = RecordPlan(1, "search", _SIMULATIONS, seed, max_plies=_MOST_PLIES)
        record_matches(environment, plan, path)
        return open_matches([*read_trajectories(path)[1]])[0]


def _played(
    environment: Environment, actions: Sequence[Action], seed: int, number: int
) -> OpenTrajectory:
    """A match of the environment: these actions as far as they are legal, then at random."""
    positions = [environment.open(environment.num_players, environment.parameters)]
    done: list[Action] = []
    wanted = list(actions)
    while positions[-1].player != TERMINAL and len(done) < _MOST_PLIES:
        here = positions[-1]
        if wanted and wanted[0] in here.legal:
            done.append(wanted.pop(0))
        else:
            wanted = []
            draw = float(stream(seed, "asked", match=number, ply=len(done)).random())
            chances = here.probabilities if here.player == CHANCE else ()
            shares = chances or (1.0 / len(here.legal),) * len(here.legal)
            done.append(here.legal[sample_index(shares, draw)])
        positions.append(environment.advance(here, done[-1]))
    return trajectory_of(number, positions, done)


def branch_fidelity(
    context: LearnContext, module: str, promoted: Sequence[int]
) -> dict[str, object]:
    """Share of branches of several plies on which the model says what the environment says.

    From positions of held-out matches (of training ones where there are none), up to three actions
    are followed at each ply, without going back to the environment's state on the way. A branch is
    right if player, legal actions, rewards, observations and state agree at all its positions.

    Raises:
        ModuleFault: If the module does not load.
    """
    settings = context.settings
    material = context.material
    matches = open_matches(material.heldout(promoted) or material.training(promoted))
    generator = stream(settings.seed, "branch fidelity")
    places = [(match, ply) for match in matches for ply in range(len(match.actions))]
    order = generator.permutation(len(places))[:_FROM]
    right: list[bool] = []
    with (
        open_environment(context) as environment,
        context.sandbox.loaded("fidelity", module) as worker,
    ):
        model = SandboxTable(worker)
        for index in sorted(int(one) for one in order):
            match, ply = places[index]
            here = environment.open(environment.num_players, environment.parameters)
            for action in match.actions[:ply]:
                here = environment.advance(here, action)
            right += _followed(environment, model, (here, here), settings.depth)
    return {
        "depth": settings.depth,
        "positions": len(order),
        "branches": len(right),
        "right": sum(right),
        "share": sum(right) / len(right) if right else None,
    }


def _followed(
    environment: Environment,
    model: SandboxTable,
    pair: tuple[Position, Position | None],
    depth: int,
) -> Iterator[bool]:
    """For all branches from here, whether the model agreed; its place is None where not."""
    here, there = pair
    if not depth or here.player == TERMINAL:
        yield there is not None
        return
    step = max(1, len(here.legal) // _WIDE)
    for action in here.legal[::step][:_WIDE]:
        after = environment.advance(here, action)
        said: Position | None = None
        with suppress(ModuleFault):
            said = None if there is None else model.advance(there, action)
        same = said if said is not None and _shown(said) == _shown(after) else None
        yield from _followed(environment, model, (after, same), depth - 1)


def _shown(here: Position) -> str:
    shown: Json = [here.state, here.player, *sorted(here.legal), *here.observations]
    return canonical_key([shown, [float(one) + 0.0 for one in here.rewards]])
