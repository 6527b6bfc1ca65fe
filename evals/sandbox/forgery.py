"""Games that are always wrong try to pass for right; counted on the checks that are really run."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from textwrap import indent

from pydantic import BaseModel, Field

from evals.results import EvalError, read_data
from evals.sandbox.probes import stand_alone
from games import library
from games.checks import verdict
from games.checks.run import CheckSettings
from games.checks.sampling import random_matches, trusted_subject
from games.checks.unit_tests import UnitTest
from games.trajectories import Transition, open_deck
from games.values import canonical_key
from tools.checking import check_source
from tools.sandbox import Sandbox
from tools.transitions import ReplayProtocol, replay_transitions

GAMES = ("tic_tac_toe", "leduc_poker")  # one with everything in sight, one with hidden cards
TRANSITIONS = 64

_MATCHES = 64
_MOST_PLIES = 200


@dataclass(frozen=True)
class Trick:
    """One way to forge.

    Attributes:
        name: Its name.
        holds: What the checks hold when the trick fails.
        source: What is appended to a game, and takes the place of its `apply_action`.
    """

    name: str
    holds: str
    source: str = field(repr=False)


class ForgeOutcome(BaseModel, frozen=True, extra="forbid"):
    """The result of a trick.

    Attributes:
        name: The trick.
        property: What the checks were to hold.
        game: The game that it spoiled.
        judged_by: "forward", "columns" or "checks".
        judged: Transitions that were judged; or tests, and all other checks as one.
        passed: How many of them the host took for right; each is forged, because the module
            computes none, and no check shows a worker the answer to what it is asked later.
    """

    name: str
    property: str
    game: str
    judged_by: str
    judged: int = Field(ge=1)
    passed: int = Field(ge=0)


@cache
def tricks() -> tuple[Trick, ...]:
    """Every trick, by name."""
    rows = read_data("sandbox/tricks.yaml")
    return tuple(_trick(name, **row) for name, row in rows.items())


def _trick(name: str, holds: str, body: str, load: str = "") -> Trick:
    """A trick from the body of its `apply_action`, and of what it does when it is loaded."""
    text = (
        "\n\ndef apply_action(state: _State, action: str) -> object:\n"
        f'    """{holds}"""\n{indent(body, " " * 4)}'
    )
    if load:
        text = f"\n\ndef _load() -> None:\n{indent(load, ' ' * 4)}\n{text}"
    source = stand_alone(
        ("apply_action", "_load"), read_data("sandbox/tricks_prelude.yaml")["source"], text
    )
    return Trick(name, holds, source + ("\n\n_load()\n" if load else ""))


def spoiled(game: str, trick: Trick) -> str:
    """A library game that answers by the trick alone."""
    return f"{library.source(game)}\n\n{trick.source}"


@cache
def recorded(game: str) -> tuple[tuple[Transition, ...], ...]:
    """Whole matches with at least `TRANSITIONS` different transitions.

    Events are left out: library games derive them from the successor, so that a module without a
    successor would fail by them, too.

    Raises:
        EvalError: If the game has too few.
    """
    subject = trusted_subject(library.source(game), library.preset(game).players)
    matches = random_matches(subject, matches=_MATCHES, seed=7, max_plies=_MOST_PLIES)
    kept: list[tuple[Transition, ...]] = []
    different: set[str] = set()
    for match in matches:
        kept.append(tuple(replace(step, events=()) for step in open_deck(match)))
        different |= {canonical_key([step.state, step.action]) for step in kept[-1]}
        if len(different) >= TRANSITIONS:
            return tuple(kept)
    raise EvalError(f"{game} gave {len(different)} transitions in {_MATCHES} matches")


def forge_transitions(
    trick: Trick, sandbox: Sandbox, game: str, protocol: ReplayProtocol
) -> ForgeOutcome:
    """Have a spoiled game judged by recorded transitions."""
    replay = replay_transitions(
        sandbox, spoiled(game, trick), recorded(game), protocol=protocol, deadline_s=120.0
    )
    return _outcome(trick, game, protocol, replay.transitions, replay.agreed)


def forge_checks(trick: Trick, sandbox: Sandbox, tests: int = 16) -> ForgeOutcome:
    """Have a spoiled game judged by every check, then by tests that look at legal actions."""
    game = GAMES[0]
    run = check_source(
        sandbox,
        spoiled(game, trick),
        settings=CheckSettings(matches=2, max_plies=40, samples=4),
        num_players=library.preset(game).players,
        parameters={},
    )
    given = _unit_tests(recorded(game), tests)
    findings = run.unit_tests(given)
    passed = sum(finding.outcome == "passed" for finding in findings)
    passed += verdict(run.findings) == "passed"
    return _outcome(trick, game, "checks", len(given) + 1, passed)


def _outcome(trick: Trick, game: str, by: str, judged: int, passed: int) -> ForgeOutcome:
    return ForgeOutcome(
        name=trick.name, property=trick.holds, game=game, judged_by=by, judged=judged, passed=passed
    )


def _unit_tests(matches: Sequence[Sequence[Transition]], count: int) -> list[UnitTest]:
    tests = (
        UnitTest(
            name=f"after {length}",
            rule="R1",
            actions=tuple(step.action for step in match[:length]),
            function="get_legal_actions",
            expected_json=canonical_key(list(match[length].legal)),
        )
        for match in matches
        for length in range(1, len(match))
    )
    return [*islice(tests, count)]
