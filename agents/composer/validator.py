"""The validator without a model: it replays records on the verified module and compares.

The verified module is library code and runs in this process; the candidate's source never does.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from agents.composer.coder import verified_source
from agents.protocols import Claim, Design, RefusedTest, RoleError, Verdict, Vote
from games.checks.sampling import trusted_subject
from games.checks.unit_tests import Tested, UnitTest, check_unit_tests
from games.contract import Game
from games.engine import Match, Ply
from games.modules import LocalModule
from games.records import MatchRecord
from games.streams import stream
from games.table import GameTable, Position
from games.values import CHANCE, TERMINAL, Json, canonical_key, show

_MATCHES = 3
_MAX_PLIES = 400
_MAX_TESTS = 24
_SHOWN = 160
_RULES_LINE = re.compile(r"Rules?:\s*((?:R\d+(?:,\s*|\s+and\s+)?)+)")

_OF_FUNCTION = {
    "get_current_player": "Turn",
    "get_legal_actions": "Legal Actions",
    "get_rewards": "Scoring",
    "get_observations": "Observations",
    "get_events": "Observations",
    "apply_action": "Turn",
}


class ComposerValidator:
    """Judges by what the verified module does with the same actions."""

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        """Judge one record by replaying it; the verified module says all, and nobody votes on it.

        Raises:
            RoleError: If the record is of no match of this design's number of players.
        """
        count = len(record.players)
        if count != design.num_players:
            told = f"for {design.num_players}; a record of {count} players cannot be judged"
            raise RoleError(f"the design is {told}")
        table = _table(verified_source(design))
        position = table.open(count, {})
        plies = record.match.plies
        for index, ply in enumerate(plies):
            wrong = _before(position, ply)
            if wrong is None:
                position = table.advance(position, ply.action)
                wrong = _after(position, ply)
            if wrong is not None:
                return _verdict(design, index, *wrong)
        wrong = _ending(record.match, position)
        if wrong is not None:
            return _verdict(design, max(0, len(plies) - 1), *wrong)
        return Verdict(illegal_ply=None, rule="")

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest]:
        """Tests at rule boundaries; their values are worked out by the verified module."""
        tests: dict[tuple[str, str], UnitTest] = {}
        for match in range(_MATCHES):
            for test in _boundaries(design, match):
                tests.setdefault((test.name.split(",")[0], test.function), test)
                if len(tests) >= _MAX_TESTS:
                    return list(tests.values())
        return list(tests.values())

    def tests_again(
        self, design: Design, source: str, refused: Sequence[RefusedTest]
    ) -> Sequence[UnitTest]:
        """Nothing: its tests are taken from matches of the verified module."""
        return []

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        """Vote by what the verified module gives; a verdict was a comparison with it already."""
        if claim.test is None:
            return Vote(upheld=True, why="the verified module does otherwise")
        subject = trusted_subject(verified_source(design), design.num_players)
        (found,) = check_unit_tests(subject, [claim.test])
        return Vote(upheld=found.outcome == "passed", why=found.evidence or "so it does")


@lru_cache(maxsize=8)
def _table(source: str) -> GameTable:
    return GameTable(Game(LocalModule(source)))


def _before(position: Position, ply: Ply) -> tuple[str, str] | None:
    """The fault of a ply before its action is applied: (function, explanation)."""
    if position.player != ply.player:
        return "get_current_player", f"seat {ply.player} acted; it is seat {position.player}'s turn"
    if ply.action not in position.legal:
        return "get_legal_actions", f"{ply.action!r} is not among {list(position.legal)[:20]}"
    if sorted(position.legal) != sorted(ply.legal):
        extra = sorted(set(ply.legal) - set(position.legal))
        lacking = sorted(set(position.legal) - set(ply.legal))
        return "get_legal_actions", f"offered beyond the rules: {extra}; lacking: {lacking}"
    if ply.player >= 0 and ply.observation != position.observations[ply.player]:
        return "get_observations", (
            f"seat {ply.player} saw {show(ply.observation, _SHOWN)}; the rules show it "
            f"{show(position.observations[ply.player], _SHOWN)}"
        )
    return None


def _after(position: Position, ply: Ply) -> tuple[str, str] | None:
    """The fault of the position that the ply led to."""
    if tuple(map(float, ply.rewards)) != tuple(map(float, position.rewards)):
        return "get_rewards", (
            f"{ply.action!r} paid {list(ply.rewards)}; the rules pay {list(position.rewards)}"
        )
    events = tuple(tuple(seat) for seat in ply.events)
    if events != position.events:
        pairs = zip(events, position.events, strict=False)
        seat = next(i for i, (told, right) in enumerate(pairs) if told != right)
        return "get_events", (
            f"seat {seat} perceived {list(events[seat])}; the rules let it perceive "
            f"{list(position.events[seat])}"
        )
    return None


def _ending(match: Match, position: Position) -> tuple[str, str] | None:
    if match.ending == "finished" and position.player != TERMINAL:
        return "get_current_player", "the match ended here; by the rules it goes on"
    if match.ending == "unfinished" and position.player == TERMINAL:
        return "get_current_player", "the match went on here; by the rules it is over"
    if match.ending == "finished" and tuple(match.final_observations) != position.observations:
        return "get_observations", "the last observations are not those that the rules show"
    return None


def _verdict(design: Design, ply: int, function: str, explanation: str) -> Verdict:
    return Verdict(
        illegal_ply=ply,
        rule=rule_of(design, function),
        explanation=f"{function}: {explanation}",
        function=function,
    )


def rule_of(design: Design, function: str) -> str:
    """The first rule that the verified function implements and the design has."""
    known = {rule.id for rule in design.rules}
    target = _table(verified_source(design)).game.module
    namespace = target.namespace if isinstance(target, LocalModule) else {}
    found = _RULES_LINE.search(getattr(namespace.get(function), "__doc__", None) or "")
    for identity in re.findall(r"R\d+", found[1]) if found else []:
        if identity in known:
            return str(identity)
    section = _OF_FUNCTION.get(function, "")
    return next((r.id for r in design.rules if r.section == section), design.rules[0].id)


def _boundaries(design: Design, match: int) -> Iterator[UnitTest]:
    """Positions of one random match at which something changes: turn, choice, pay or end."""
    table = _table(verified_source(design))
    position = table.open(design.num_players, {})
    actions: list[str] = []
    yield _test(design, "at the start", actions, "get_legal_actions", position.legal)
    while position.player != TERMINAL and len(actions) < _MAX_PLIES:
        before = position
        generator = stream(0, "unit tests", match=match, ply=len(actions))
        actions.append(position.legal[int(generator.integers(len(position.legal)))])
        position = table.advance(position, actions[-1])
        for name, function in _changes(before, position):
            values: dict[str, int | Sequence[Json]] = {
                "get_legal_actions": position.legal,
                "get_rewards": position.rewards,
                "get_current_player": position.player,
                "get_observations": position.observations,
            }
            yield _test(design, name, actions, function, values[function])


def _changes(before: Position, after: Position) -> Iterator[tuple[str, Tested]]:
    if before.player == CHANCE and after.player >= 0:
        yield "first decision after a chance event", "get_legal_actions"
        yield "first decision after a chance event", "get_observations"
    if 0 <= before.player != after.player >= 0:
        yield "the turn passes", "get_current_player"
    if after.player >= 0 and len(after.legal) == 1 < len(before.legal):
        yield "a forced choice", "get_legal_actions"
    if any(after.rewards):
        yield "points are paid", "get_rewards"
    if after.player == TERMINAL:
        yield "the game ends", "get_current_player"
        yield "the game ends", "get_rewards"


def _test(
    design: Design, name: str, actions: Sequence[str], function: Tested, value: int | Sequence[Json]
) -> UnitTest:
    expected: Json = value if isinstance(value, int) else [*value]
    return UnitTest(
        name=f"{name}, ply {len(actions)} (value worked out by the verified library module)",
        rule=rule_of(design, function),
        actions=tuple(actions),
        function=function,
        expected_json=canonical_key(expected),
    )
