"""The environment that matches were recorded in: opened, compared with them, and with a model."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from games.checks.pairs import first_difference
from games.environments import Environment, EnvironmentNotFoundError
from games.streams import stream
from games.table import Position
from games.trajectories import TrajectoryError, TrajectoryHeader
from games.values import TERMINAL, Json, ModuleFault, State, canonical_key
from graph.learn.figures import BranchFidelity, Problem
from graph.learn.learning import Learning
from graph.learn.matches import Material, open_matches
from graph.learn.state import LearnContext
from tools.playtest.jobs import GameSetup
from tools.sandbox import SandboxTable
from tools.sandbox.module import environment_in
from tools.sources import any_environment, game_setup_of

FAILURES = (ModuleFault, ValueError, LookupError, RuntimeError)
"""Errors of an environment that a run goes on without."""
_FROM, _WIDE = 12, 3  # positions of branch fidelity, and actions followed at each ply


@contextmanager
def open_environment(context: LearnContext) -> Iterator[Environment]:
    """The environment that the matches were recorded in, in a worker.

    Raises:
        EnvironmentNotFoundError: If there is none with their parameters.
        ModuleFault: If it does not load.
    """
    like = environment_like(context.settings.environment, context.files.header)
    with environment_in(context.sandbox, like) as environment:
        yield environment


def refereed_environment(context: LearnContext) -> GameSetup:
    """The environment as a game, with seats and parameters as in recorded matches."""
    return game_setup_of(environment_like(context.settings.environment, context.files.header))


def require_recorded_start(context: LearnContext, material: Material) -> None:
    """Refuse an environment that begins otherwise than the recorded matches.

    One that cannot be opened passes: the report says so where it is asked.

    Raises:
        TrajectoryError: Naming both, and where they differ.
    """
    start: State | None = None
    with suppress(*FAILURES), open_environment(context) as environment:
        start = environment.open(environment.num_players, environment.parameters).state
    recorded = material.start
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
    if Path(re.sub(r"^(twin:\d+:)*", "", name)).exists():
        return any_environment(name, header.parameters, header.num_players)
    usual = any_environment(name)  # of some, parameters cannot be given
    if usual.name != header.environment:
        raise EnvironmentNotFoundError(
            f"the environment is {usual.name}; the matches were recorded in {header.environment}"
        )
    if usual.num_players == header.num_players and dict(usual.parameters) == header.parameters:
        return usual
    found = any_environment(name, header.parameters, header.num_players)
    if dict(found.parameters) != dict(header.parameters):
        raise EnvironmentNotFoundError(
            f"{name} has the parameters {dict(found.parameters)}; the matches were recorded with "
            f"{dict(header.parameters)}"
        )
    return found


def fidelity_of(learning: Learning, source: str) -> BranchFidelity | Problem | None:
    """Branch fidelity of a source; None without an environment, and why not where it failed.

    A closed deck has none: the states of its model are its own.
    """
    if not learning.settings.environment or learning.settings.closed_deck:
        return None
    try:
        return branch_fidelity(learning, learning.module(source))
    except FAILURES as error:
        return Problem(problem=f"{type(error).__name__}: {error}")


def branch_fidelity(learning: Learning, module: str) -> BranchFidelity:
    """Share of branches of several plies on which the model says what the environment says.

    From positions of held-out matches (of training ones where there are none), up to three actions
    are followed at each ply, without going back to the environment's state on the way. A branch is
    right if player, legal actions, rewards, observations and state agree at all its positions.

    Raises:
        ModuleFault: If the module does not load.
    """
    settings = learning.settings
    matches = open_matches(learning.heldout or learning.training)
    generator = stream(settings.seed, "branch fidelity")
    places = [(match, ply) for match in matches for ply in range(len(match.actions))]
    order = generator.permutation(len(places))[:_FROM]
    right: list[bool] = []
    with (
        open_environment(learning.context) as environment,
        learning.context.sandbox.loaded("fidelity", module) as worker,
    ):
        model = SandboxTable(worker)
        for index in sorted(int(one) for one in order):
            match, ply = places[index]
            here = environment.open(environment.num_players, environment.parameters)
            for action in match.actions[:ply]:
                here = environment.advance(here, action)
            right += _followed(environment, model, (here, here), settings.depth)
    return BranchFidelity(
        depth=settings.depth,
        positions=len(order),
        branches=len(right),
        right=sum(right),
        share=sum(right) / len(right) if right else None,
    )


def _followed(
    environment: Environment,
    model: SandboxTable,
    pair: tuple[Position, Position | None],
    depth: int,
) -> Iterator[bool]:
    """For all branches from here, say if the model agreed; its place is None where it did not."""
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
