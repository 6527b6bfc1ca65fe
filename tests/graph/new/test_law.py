"""The law of claims, measured: twenty right and twenty wrong claims over five library games.

A right claim is on a draft with a fault that no program finds; a wrong one is on the sound module.
Half of them are tests whose values follow from the rules, half are verdicts on played matches.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from agents.protocols import (
    Attempt,
    Claim,
    CoderTools,
    Design,
    Edit,
    Mending,
    Objection,
    Verdict,
    Vote,
)
from games import library
from games.checks import Finding
from games.checks.run import CheckSettings
from games.checks.sampling import trusted_subject
from games.checks.unit_tests import UnitTest
from games.records import MatchRecord
from games.table import Position
from graph.new.state import RunState
from tests.graph.conftest import MakeContext
from tests.graph.new.test_claims import until_judged
from tests.graph.scripted import DESIGN, ScriptedRoles
from tests.graph.settings import SMALL

CHECKS = CheckSettings(matches=2, samples=6, seed=3, max_plies=500)
SETTINGS = SMALL.model_copy(update={"check": CHECKS, "max_rounds": 6, "records_judged": 2})


@dataclass(frozen=True)
class Fault:
    """A piece of a library game, what a faulty draft has in its place, and where that shows.

    Attributes:
        line: Actions from the start to the place.
        function: The function that answers there.
        right: Its answer by the rules.
        wrong: The faulty draft's answer.
        relation: How a test compares the answer.
    """

    game: str
    sound: str
    broken: str
    line: Sequence[str]
    function: str
    right: object
    wrong: object
    relation: str = "is"


COLUMN = ("drop 1", "drop 2") * 3 + ("drop 1",)
FAULTS = [
    Fault(
        "tic_tac_toe",
        "return [1, -1] if (player == 0)",
        "return [-1, 1] if (player == 0)",
        ("x 1,1", "o 2,1", "x 1,2", "o 2,2", "x 1,3"),
        "get_rewards",
        [1, -1],
        [-1, 1],
    ),
    Fault(
        "tic_tac_toe",
        "return [1, -1] if (player == 0)",
        "return [2, -2] if (player == 0)",
        ("x 1,1", "o 1,2", "x 2,1", "o 2,2", "x 3,1"),
        "get_rewards",
        [1, -1],
        [2, -2],
    ),
    Fault(
        "connect_four",
        "sign if seat == player else -sign",
        "-sign if seat == player else sign",
        COLUMN,
        "get_rewards",
        [1, -1],
        [-1, 1],
    ),
    Fault(
        "connect_four",
        "    if player is not None:\n        sign",
        "    if player == 9:\n        sign",
        COLUMN,
        "get_rewards",
        [1, -1],
        [0, 0],
    ),
    Fault(
        "leduc_poker",
        'raises=after["raises"] + 1',
        'raises=after["raises"] - 1',
        ("deal JS", "deal KS", "bet", "raise"),
        "get_legal_actions",
        ["fold", "call"],
        ["fold", "call", "raise"],
    ),
    Fault(
        "leduc_poker",
        "(share if seat in winners else 0)",
        "(share if seat not in winners else 0)",
        ("deal JS", "deal KS", "check", "check", "deal QS", "check", "check"),
        "get_rewards",
        [-1, 1],
        [1, -1],
    ),
    Fault(
        "two_dice_pig",
        "    if busts:\n",
        "    if busts > 1:\n",
        ("roll", "face 1", "face 3"),
        "get_current_player",
        1,
        0,
    ),
    Fault(
        "two_dice_pig",
        "won = sum(_worth(rules, number) for number in faces)",
        "won = max(_worth(rules, number) for number in faces)",
        ("roll", "face 4", "face 3"),
        "get_observations",
        [{"turn_total": 7}] * 2,
        [{"turn_total": 4}] * 2,
        "contains",
    ),
    Fault(
        "goofspiel",
        "best = max(bids)",
        "best = min(bids)",
        ("prize 4", "bid 13", "bid 11"),
        "get_observations",
        [{"points": [4, 0]}] * 2,
        [{"points": [0, 4]}] * 2,
        "contains",
    ),
    Fault(
        "goofspiel",
        "share = worth / len(seats) if",
        "share = 2 * worth / len(seats) if not",
        ("prize 4", "bid 13", "bid 11"),
        "get_observations",
        [{"points": [4, 0]}] * 2,
        [{"points": [8.0, 0]}] * 2,
        "contains",
    ),
]


@dataclass
class Lawful(ScriptedRoles):
    """A validator with one claim, a coder that answers it, and further validators who know.

    Attributes:
        fault: What the claim is on.
        right: True if the draft has the fault, so that the claim is right.
        by_test: True if the claim is a test; else it is a verdict.
        contests: True if the coder contests; else it edits what does not matter.
    """

    fault: Fault = FAULTS[0]
    right: bool = True
    by_test: bool = True
    contests: bool = True

    def design(self, *_: object) -> Design:
        return DESIGN.model_copy(update={"family": self.fault.game})

    def unit_tests(self, *_: object) -> Sequence[UnitTest]:
        fault, claimed = self.fault, self.by_test
        value = fault.right if self.right else fault.wrong
        held = {"function": fault.function, "relation": fault.relation, "actions": fault.line}
        held |= {"expected_json": json.dumps(value)}
        true = {"function": "get_rewards", "actions": (), "expected_json": "[0, 0]"}
        told = {"name": "claimed", "rule": "R1", **(held if claimed else true)}
        return [UnitTest.model_validate(told)]

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        ply: int | None = None
        if not self.by_test:
            ply = self._parted(record, positions()) if self.right else len(record.actions) // 2
        rule = "R1" if ply is not None else ""
        return Verdict(illegal_ply=ply, rule=rule, explanation="not by the rules", shown="RECORD")

    def _parted(self, record: MatchRecord, positions: Sequence[Position]) -> int | None:
        """The first ply that the verified game plays otherwise."""
        subject = trusted_subject(library.source(self.fault.game), 2)
        place = subject.open()
        for number, action in enumerate(record.actions):
            if action not in place.legal:
                return number
            place, shown = subject.table.advance(place, action), positions[number + 1]
            told = ((p.player, p.legal, p.rewards, p.observations) for p in (place, shown))
            if json.dumps(next(told)) != json.dumps(next(told)):
                return number
        return None

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        """A coder that contests does so once, then mends; another one mends at its third edit."""
        self.calls.append("edit")
        count = self.calls.count("edit")
        if self.contests and (count == 1 or not self.right):
            said = [Objection(finding=n, argument="R1") for n in range(1, 1 + len(findings))]
            return Mending(cause="the rules are kept", contested=tuple(said))
        if self.right and (self.contests or count > 2):
            return Mending(edits=(Edit(search=self.fault.broken, replace=self.fault.sound),))
        return Mending(edits=(Edit(search=source, replace=f"{source}# edit {count}\n"),))

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        self.calls.append("arbitrate")
        return Vote(upheld=self.right, why="so the rules say")


def lawful(number: int, *, right: bool) -> Lawful:
    """The roles of one claim: ten tests, then ten verdicts."""
    fault, by_test = FAULTS[number % len(FAULTS)], number < len(FAULTS)
    return Lawful(
        faults=[(fault.sound, fault.broken)] if right else [],
        fault=fault,
        right=right,
        by_test=by_test,
        contests=number % 2 == 0,
    )


def accepted_source(state: RunState) -> str:
    """The accepted game without the comments of idle edits; empty where none was accepted."""
    if state.accepted is None:
        return ""
    lines = state.candidate(state.accepted).source.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("# edit "))


SAMPLE = (0, 7, 11, 16)
NUMBERS = [
    pytest.param(number, marks=() if number in SAMPLE else pytest.mark.whole)
    for number in range(2 * len(FAULTS))
]


@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize("number", NUMBERS)
def test_a_right_claim_mends_its_fault_and_a_wrong_one_ends_no_run(
    make_context: MakeContext, number: int, *, right: bool
) -> None:
    roles = lawful(number, right=right)
    state = until_judged(roles, make_context, SETTINGS)
    assert len(state.claims) > int(not roles.by_test)  # the claim was made
    assert accepted_source(state) == library.source(roles.fault.game)
