"""Node: ask the environment for a further match, the one that tells most.

Candidates that fit all that was recorded may still differ elsewhere. Where two of them part on a
position that play can reach, the environment is asked for a match through it (query by committee,
Seung et al. 1992). Where none part, it is asked in turn for a match of players that search, who
come where random play never does, and for one that meets what no recorded match has met: found by
exploration inside the model.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.recording import RecordPlan, record_matches
from agents.roles.modeller import PREDICTING
from games.engine import sample_index
from games.environments import Environment
from games.environments.reading import read_trajectories
from games.streams import stream
from games.trajectories import OpenTrajectory, phases, taken, trajectory_of
from games.values import CHANCE, TERMINAL, Action, ModuleFault
from graph.learn.environment import FAILURES, open_environment
from graph.learn.learning import Learning
from graph.learn.matches import open_matches
from graph.learn.state import LearnContext, LearnState
from graph.run.checkpoints import moved
from graph.run.events import EnvironmentAsked, writer_of
from tools.differing import differential_sources
from tools.predicting.playing import Explorer
from tools.sandbox import SandboxTable

_COMMITTEE = 4
_COMPARED_MATCHES = 20
_DIRECTED_MATCHES = 12
_EXPLORED_PLIES = 20_000
_SIMULATIONS = 30  # of a decision of players that search
_MOST_PLIES = 1000


def active(state: LearnState, runtime: Runtime[LearnContext]) -> Command[Literal["check"]]:
    """Ask the environment for the match that tells most, and test again with it."""
    context = runtime.context
    actions, why = _question(Learning(context, state))
    again = state.with_versions([replace(c, findings=None) for c in state.passing])
    try:
        with open_environment(context) as environment:
            if actions is None:
                found = _searched(environment, context.settings.seed + state.asked)
            else:
                found = _played(environment, actions, context.settings.seed, state.asked)
    except FAILURES as error:
        said = f"the environment failed, and is not asked again: {type(error).__name__}: {error}"
        return moved("check", state, again.asking_no_more(said))
    context.files.add(state.asked, found)
    writer_of(runtime.stream_writer)(EnvironmentAsked(match=state.asked + 1, because=why))
    after = again.with_question(f"{why} ({len(found.actions)} plies)")
    return moved("check", state, after)


def _question(learning: Learning) -> tuple[tuple[Action, ...] | None, str]:
    """Actions that the environment is to play, None for players that search there, and why."""
    state, header = learning.state, learning.header
    # One that some recorded match refutes has no say.
    able = [c for c in state.pool if state.judged[c.number].accuracy == 1.0]
    able.sort(key=lambda c: (-c.share_passed, -c.number))
    modules = {c.number: learning.module(c.source) for c in able[:_COMMITTEE]}
    for one, other in combinations(modules, 2):
        try:
            found = differential_sources(
                learning.context.sandbox,
                modules[one],
                modules[other],
                num_players=header.num_players,
                parameters=header.parameters,
                matches=_COMPARED_MATCHES,
                seed=learning.settings.seed + state.asked,
                to_the_letter=True,
            ).divergence
        except ModuleFault:
            continue
        if found is not None:
            why = f"candidates {one} and {other} part on {found.about} after {found.ply} plies"
            return found.history, why
    if state.asked % 2 == 0:
        return None, "no candidates part: players that search"
    return _directed(learning, modules[able[0].number])


def _directed(learning: Learning, module: str) -> tuple[tuple[Action, ...], str]:
    """A match inside the model that meets the most of what no recorded match has met."""
    context, known = learning.context, open_matches([*learning.training, *learning.heldout])
    explorer, explored = _explored(learning, module, known)
    if explorer.broken:
        return explorer.broken, "the model fails there"
    seed = learning.settings.seed + 1 + learning.state.asked
    played = [*explored, *context.play(module, _DIRECTED_MATCHES, seed).matches]
    covered = learning.covered(module, PREDICTING, [*known, *played])
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
    learning: Learning, module: str, known: Sequence[OpenTrajectory]
) -> tuple[Explorer, list[OpenTrajectory]]:
    """Beginnings of matches inside the model, each to an action of a kind that is new there."""
    header, seed = learning.header, learning.settings.seed + 1 + learning.state.asked
    with learning.context.sandbox.loaded("explorer", module) as worker:
        explorer = Explorer(
            SandboxTable(worker), header.num_players, header.parameters, known, seed
        )
        return explorer, explorer.matches(_EXPLORED_PLIES)


def _searched(environment: Environment, seed: int) -> OpenTrajectory:
    """A match of the environment in which every seat searches."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "match.jsonl"
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
