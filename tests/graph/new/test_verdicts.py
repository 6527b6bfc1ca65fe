"""Verdicts of the validator: what was found at one ply stays found until it is played otherwise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from agents.protocols import (
    Attempt,
    Claim,
    CoderTools,
    Design,
    Edit,
    Mending,
    RoleError,
    Verdict,
)
from agents.roles.texts import findings_text
from games.checks import Finding
from games.checks.unit_tests import PLY
from games.records import MatchRecord
from games.table import Position
from graph.new.explaining import explained_rule
from graph.new.requests import Remedy
from graph.new.results import choiceless, final_text, open_ends
from graph.new.state import RunState, need_design
from graph.new.trial import Trial
from graph.run.candidates import Candidate
from graph.run.folder import RunFolder
from tests.graph.conftest import MakeContext
from tests.graph.new.test_claims import PAYS_THE_LOSER, SETTINGS, WRONG_TESTS, Claiming
from tests.graph.running import resume_run, start_run
from tests.graph.scripted import role_set

SHOWS_MORE = """
_sound = get_observations
def get_observations(state):
    return [{**seen, "more": 1} for seen in _sound(state)]
"""


@dataclass
class Forgetful(Claiming):
    """A validator that sees a fault in the first record alone, and a coder that slowly mends it.

    Attributes:
        edits: What the coder does in each round: "comment", "show" or "mend"; the last one stays.
        told: The findings as the coder reads them, a text a round.
    """

    edits: Sequence[str] = ("comment",)
    told: list[str] = field(default_factory=list)
    upheld: bool | None = True

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        self.calls.append("judge")
        if self.calls.count("judge") > 1:
            return Verdict(illegal_ply=None, rule="")
        last = len(record.match.plies) - 1
        return Verdict(illegal_ply=last, rule="R1", explanation="it pays the loser", shown="RECORD")

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        self.calls.append("edit")
        self.told.append(findings_text(design, findings, tools))
        number = self.calls.count("edit")
        sound, broken = PAYS_THE_LOSER
        new = {
            "comment": f"{source}# edit {number}\n",
            "show": source + SHOWS_MORE,
            "mend": source.replace(broken, sound),
        }[self.edits[min(number, len(self.edits)) - 1]]
        return Mending(cause="about something else", edits=(Edit(search=source, replace=new),))


def ended(roles: Forgetful, make_context: MakeContext, folder: RunFolder) -> RunState:
    return start_run("noughts", folder, make_context(role_set(roles), SETTINGS)).state


@pytest.mark.whole
def test_a_fault_that_a_vote_upheld_is_not_forgotten_nor_paid_for_again(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Forgetful(faults=[PAYS_THE_LOSER])
    state = ended(roles, make_context, folder)
    assert (state.end, state.accepted) == ("gave_up", None)
    assert [(claim.id, claim.status) for claim in state.claims] == [("V1", "upheld")]
    assert (roles.calls.count("judge"), roles.asked) == (1, ["V1"])
    assert [{f.claim for f in c.findings or () if f.outcome == "failed"} for c in state.candidates][
        1:
    ] == [{"V1"}] * SETTINGS.max_rounds
    assert all("you may contest it" in told for told in roles.told[:2])
    for told in roles.told[2:]:
        assert "a vote upheld it, so mend it" in told
        assert told.count("A further validator upheld it: worked out from R1") == 1
    assert state.claims[0].argument == ""  # nobody objected, whatever the last edit was about


class Trying(Forgetful):
    """A coder that holds what it has, and what it will give, against all that is claimed."""

    held: list[list[str]]

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        sound, broken = PAYS_THE_LOSER
        tried = [tools.run_tests(text) for text in (source, source.replace(broken, sound))]
        self.held = [[one.outcome for one in found if one.check == PLY] for found in tried]
        return super().edit(design, source, findings, tools, earlier)


def test_a_coder_can_try_whether_a_ply_that_was_found_faulty_is_still_played_so(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Trying(faults=[PAYS_THE_LOSER], edits=["mend"])
    ended(roles, make_context, folder)
    assert roles.held == [["failed"], ["passed"]]


@pytest.mark.parametrize("rounds", [0, 4])  # accepted in silence, and after the vote upheld it
def test_a_fault_that_was_mended_is_seen_to_be(
    make_context: MakeContext, folder: RunFolder, rounds: int
) -> None:
    roles = Forgetful(faults=[PAYS_THE_LOSER], edits=["comment"] * rounds + ["mend"])
    state = ended(roles, make_context, folder)
    assert state.end == "made"
    assert state.claims[0].status == ("upheld" if rounds else "open")
    assert state.accepted is not None
    held = [f for f in state.candidate(state.accepted).findings or () if f.claim == "V1"]
    assert [(found.check, found.outcome) for found in held] == [("ply", "passed")]


def test_a_game_that_cannot_be_held_against_an_upheld_fault_is_delivered_and_says_so(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Forgetful(faults=[PAYS_THE_LOSER], edits=["comment"] * 3 + ["show"])
    context = make_context(role_set(roles), SETTINGS)
    state = start_run("noughts", folder, context).state
    assert state.end == "delivered"
    assert "V1, a claim of the validator on R1, was upheld" in final_text(state)
    found = explained_rule(folder, "R1", context.sandbox)["findings"]
    assert [one["outcome"] for one in found if "V1" in one["evidence"]] == ["could_not_judge"]
    checks = folder.read_json("checks.json")
    checks["claims"][0]["status"] = "struck"  # type: ignore[index]
    folder.write_json("checks.json", checks)
    found = explained_rule(folder, "R1", context.sandbox)["findings"]
    assert [one["outcome"] for one in found if "V1 was" in one["evidence"]] == ["struck"]
    passed = Finding(check="unit_test", outcome="passed", rule="R1", claim="T1")
    claim = Claim(id="T1", rule="R1", says="the loser is paid nothing")
    kept = {"findings": [passed.model_dump()], "claims": [claim.model_dump(mode="json")]}
    folder.write_json("checks.json", kept)
    (told,) = explained_rule(folder, "R1", context.sandbox)["findings"]
    assert told["evidence"] == "T1, the loser is paid nothing"


def test_a_test_and_a_check_that_undo_each_other_are_named_at_the_end(folder: RunFolder) -> None:
    def candidate(number: int, check: str, claim: str = "") -> Candidate:
        found = Finding(check=check, outcome="failed", evidence="wrong", claim=claim)
        parent = number - 1 if number else None
        return Candidate(number=number, parent=parent, source=str(number), findings=(found,))

    claims = tuple(
        Claim(id=name, rule="R1", says=says, test=WRONG_TESTS[0])
        for name, says in {"T1": "kept", "T2": "all is shown"}.items()
    )
    state = RunState(folder=str(folder.path), end="gave_up", claims=claims)
    pool = [candidate(0, "unit_test", "T2"), candidate(1, "leak_audit")]
    once = final_text(replace(state, candidates=tuple(pool)))
    assert "were not held at once" not in once
    pool.append(candidate(2, "unit_test", "T2"))
    told = final_text(replace(state, candidates=tuple(pool)))
    assert "T2 on R1 (all is shown) and the check leak_audit were not held at once" in told
    assert "--drop-test T2" in told


@dataclass
class Insistent(Claiming):
    """A validator that holds a record for faulty, and reads it otherwise once it is told why not.

    Attributes:
        told: What it was told was struck, a text a call.
    """

    told: list[str] = field(default_factory=list)
    contests: bool = True

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        self.told.append(struck)
        if struck or len(self.told) == 2:
            return Verdict(illegal_ply=None, rule="")
        shown = str(record.actions)
        return Verdict(illegal_ply=1, rule="R1", explanation="the wrong seat", shown=shown)


def test_a_record_whose_verdict_was_voted_down_is_not_judged_again_and_the_game_is_made(
    make_context: MakeContext, folder: RunFolder
) -> None:
    settings = SETTINGS.model_copy(update={"records_judged": 2})
    roles = Insistent()
    state = start_run("noughts", folder, make_context(role_set(roles), settings)).state
    assert roles.told == ["", ""]
    assert (state.end, state.reason) == ("made", "")
    assert [claim.status for claim in state.claims] == ["struck"]
    assert state.accepted is not None
    judged = [f for f in state.candidate(state.accepted).findings or () if f.check == "record"]
    assert [(f.outcome, "V1 was voted down" in f.evidence) for f in judged] == [
        ("passed", True),
        ("passed", False),
    ]
    assert "Note: V1, a claim of the validator on R1, was voted down" in final_text(state)


def test_an_accepted_game_whose_choices_count_for_nothing_is_known_to_the_verdict() -> None:
    wrong = Finding(check="decisions", outcome="failed", evidence="no choice counts")
    fine = Finding(check="decisions", outcome="passed")
    taken, other = (
        RunState(candidates=(Candidate(number=0, source="x", findings=(found,)),), accepted=0)
        for found in (wrong, fine)
    )
    said = [choiceless(state) for state in (taken, other, RunState())]
    assert said == ["no choice counts", "", ""]


def test_what_an_accepted_game_lacks_is_told_once() -> None:
    claim = Claim(id="T1", rule="R1", says="it pays 1", status="upheld", test=WRONG_TESTS[0])
    wrong = Finding(check="unit_test", outcome="failed", evidence="it pays 0", claim="T1")
    pool = [
        Candidate(number=n, source="x", findings=found) for n, found in enumerate([(wrong,), ()])
    ]
    told = [
        open_ends(RunState(candidates=tuple(pool), claims=(claim,), accepted=number))
        for number in (0, 1)
    ]
    assert [len(ends) for ends in told] == [1, 1]
    assert "it pays 0" in told[0][0]
    assert "not seen to mend" in told[1][0]


@dataclass
class Repeating(Insistent):
    """It says the same of a record until it is told that this was struck."""

    contests: bool = False
    upheld: bool | None = True


@pytest.mark.whole
def test_a_verdict_that_a_person_gave_up_does_not_come_back_from_what_was_answered_before(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Repeating()
    context = make_context(role_set(roles), SETTINGS)
    assert start_run("noughts", folder, context).state.end == "gave_up"
    state = resume_run(folder, context, remedy=Remedy(drop="V1")).state
    assert [bool(struck) for struck in roles.told] == [False, True]
    assert [(claim.id, claim.status) for claim in state.claims] == [("V1", "dropped")]
    assert state.end == "delivered"
    # One of counts over matches has no ply to be known by: it is told with every record.
    counted = tuple(claim.model_copy(update={"played": None}) for claim in state.claims)
    Trial(need_design(state), context, 0, state.candidates[-1].source).judged(counted)
    assert "the wrong seat" in roles.told[-1]


class Idle(Forgetful):
    """A coder that proposes no edit, so many times, before it mends."""

    idle: int = 1

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        if self.calls.count("idle") < self.idle:
            self.calls.append("idle")
            raise RoleError("the coder proposes no edit: nothing is wrong")
        return super().edit(design, source, findings, tools, earlier)


@pytest.mark.parametrize("idle", [1, 2])
def test_a_coder_that_proposes_no_edit_is_asked_once_more_before_the_claim_is_voted_on(
    make_context: MakeContext, folder: RunFolder, idle: int
) -> None:
    roles = Idle(faults=[PAYS_THE_LOSER], edits=["mend"], upheld=False)
    roles.idle = idle
    state = ended(roles, make_context, folder)
    assert (state.end, roles.calls.count("idle")) == ("made", idle)
    assert all("the coder proposes no edit" in told for told in roles.told)
    assert bool(roles.asked) == (idle > 1)
