"""Several drafts of one design: checked alike, played on each other, ruled on where they part."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agents.model.errors import EndpointError, MalformedReplyError
from agents.model.recording import current_draft, current_place
from agents.protocols import (
    Claim,
    CoderTools,
    Design,
    Mending,
    Objection,
    Parting,
    RefusedTest,
    RoleError,
    RoleSet,
    Ruling,
    Vote,
)
from games import library
from games.checks import Finding
from games.checks.unit_tests import UnitTest
from graph.new.context import RunSettings
from graph.new.nodes.code import drafted
from graph.new.results import exit_code, final_text
from graph.new.runs import resume_run, start_run
from graph.new.state import after_drafts
from graph.run.candidates import Candidate
from graph.run.folder import RunFolder, create_folder
from tests.agents.model.endpoint import serving
from tests.graph.answering import PROMPT, answer
from tests.graph.conftest import MakeContext
from tests.graph.new.test_model_run import model_context
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import UNPLAYED

SOURCE = library.source("tic_tac_toe")
LOSES = SOURCE.replace("[1, -1] if (player == 0) !=", "[1, -1] if (player == 0) ==")
CRASHES = SOURCE.replace('"board": board, "line_by": player}', '"board": board, "line_by": line}')
AMENDED = "Players take turns to mark an empty cell; a line of three wins."
TWO = UNPLAYED.model_copy(update={"candidates": 2, "refine": "tree"})


@dataclass
class Drafters(ScriptedRoles):
    """Drafts in turn by their number; an exception is raised."""

    drafts: tuple[str | Exception, ...] = (SOURCE, LOSES)
    holds: str | Exception = "first"
    asked: list[Parting] = field(default_factory=list)

    def draft(self, design: Design, tools: CoderTools) -> str:
        given = self.drafts[current_draft()]
        if isinstance(given, Exception):
            raise given
        return given

    def rule_on(self, design: Design, parting: Parting) -> Ruling:
        self.asked.append(parting)
        if isinstance(self.holds, Exception):
            raise self.holds
        return Ruling.model_validate(
            {"working": "It is open.", "holds": self.holds, "rule": "R1", "text": AMENDED}
        )


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Dying(Drafters):
    """The process dies at one of the calls, counted from 0; at none below 0."""

    at: int = -1
    made: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def _call(self) -> None:
        with self.lock:
            self.made += 1
            if self.made - 1 == self.at:
                raise Killed

    def draft(self, design: Design, tools: CoderTools) -> str:
        self._call()
        return super().draft(design, tools)

    def rule_on(self, design: Design, parting: Parting) -> Ruling:
        self._call()
        return super().rule_on(design, parting)


def roles_of(drafters: Drafters) -> RoleSet:
    return replace(role_set(drafters), referee=drafters)


def test_the_variant_is_another_game() -> None:
    assert SOURCE not in (LOSES, CRASHES)


@pytest.mark.parametrize(("holds", "accepted"), [("first", 0), ("second", 1)])
def test_where_two_drafts_part_the_designer_rules_and_amends_the_rule(
    make_context: MakeContext, folder: RunFolder, holds: str, accepted: int
) -> None:
    drafters = Drafters(holds=holds)
    result = start_run("noughts", folder, make_context(roles_of(drafters), TWO))
    state = result.state
    assert (state.end, state.accepted, state.rounds) == ("made", accepted, 0)
    (parting,) = drafters.asked
    assert (parting.about, parting.candidates) == ("rewards", (0, 1))
    assert sorted(parting.readings) == ["[-1.0,1.0]", "[1.0,-1.0]"]
    assert len(parting.actions) == parting.ply
    assert AMENDED in (folder.path / "rulebook.md").read_text()
    assert (folder.path / "game.py").read_text() == (SOURCE, LOSES)[accepted]
    told = final_text(state)
    assert all(text in told for text in (*parting.readings, f"the {holds} reading holds", AMENDED))
    (kept,) = folder.read_json("run.json")["ambiguities"]  # type: ignore[index]
    assert kept["before"] == "Players take turns to mark an empty cell."
    outcomes = [candidate.outcome for candidate in state.candidates]
    assert outcomes[accepted] == "passed"
    assert outcomes[1 - accepted] == "failed"


@dataclass
class Retested(Drafters):
    """A validator that is asked for tests once more where a rule was amended."""

    amended: list[tuple[str, ...]] = field(default_factory=list)
    begins: tuple[str, ...] = ("0", "0")

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        (test,) = super().unit_tests(design, source)
        self.amended.append(tuple(amended))
        assert (AMENDED in [rule.text for rule in design.rules]) == bool(amended)
        expected = self.begins[len(self.amended) - 1]
        return [test.model_copy(update={"expected_json": expected})]

    def edit(self, *_: object) -> Mending:
        self.calls.append("edit")
        return Mending(contested=(Objection(finding=1, argument="the rules"),))

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        return Vote(upheld=False, why="worked out from R1")


@pytest.mark.parametrize(("begins", "fate"), [("0", "open"), ("1", "struck")])
def test_a_test_of_an_amended_rule_is_asked_anew_and_the_old_one_is_named(
    make_context: MakeContext, folder: RunFolder, begins: str, fate: str
) -> None:
    roles = Retested(begins=("0", begins))
    state = start_run("noughts", folder, make_context(roles_of(roles), TWO)).state
    assert roles.amended == [(), ("R1",)]
    assert [(c.id, c.status) for c in state.claims] == [("T1", "overtaken"), ("T2", fate)]
    assert state.end == "made"
    assert state.accepted == 0
    accepted = [found.claim for found in state.candidate(0).findings or () if found.claim]
    assert accepted == (["T2"] if fate == "open" else [])
    assert "the test T1 spoke for R1 as it read before" in final_text(state)


@dataclass
class TestedLate(Retested):
    """A validator whose first tests leave out the rule that a ruling amends later."""

    __test__ = False
    late: bool = True

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        tests = super().unit_tests(design, source, amended)
        return tests if amended and self.late else []


@pytest.mark.parametrize(
    ("late", "told"), [(True, "T1, a claim"), (False, "no test of R1 as it reads now")]
)
def test_an_amended_rule_that_no_test_named_is_tested_before_the_game_is_made(
    make_context: MakeContext, folder: RunFolder, late: bool, told: str
) -> None:
    roles = TestedLate(begins=("0", "0", "1"), late=late)
    state = start_run("noughts", folder, make_context(roles_of(roles), TWO)).state
    assert roles.amended == [(), (), ("R1",)]
    assert state.end == ("made" if late else "delivered")
    assert told in final_text(state)


def test_drafts_that_a_vote_made_pass_are_compared_too(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Retested(begins=("1", "0"), holds="second")
    state = start_run("noughts", folder, make_context(roles_of(roles), TWO)).state
    assert roles.calls.count("edit") == 1
    assert [parting.candidates for parting in roles.asked] == [(0, 1)]
    assert state.accepted == 1
    assert {claim.id: claim.status for claim in state.claims}["T1"] == "struck"


def test_killed_at_any_draft_or_ruling_the_run_ends_in_the_same_bytes(
    make_context: MakeContext, tmp_path: Path
) -> None:
    def finished(name: str, at: int) -> tuple[Dying, dict[str, object], bytes, bytes]:
        folder = create_folder(tmp_path / name, title="", runs=tmp_path)
        roles = Dying(at=at)
        if at >= 0:
            with pytest.raises(Killed):
                start_run("noughts", folder, make_context(roles_of(roles), TWO))
            roles = Dying()
            resume_run(folder, make_context(roles_of(roles), TWO))
        else:
            start_run("noughts", folder, make_context(roles_of(roles), TWO))
        told = folder.read_json("run.json")
        kept = {key: told[key] for key in ("end", "candidates", "evaluation")}  # type: ignore[index]
        book = (folder.path / "rulebook.md").read_bytes()
        return roles, kept, (folder.path / "game.py").read_bytes(), book

    straight = finished("straight", -1)
    assert straight[0].made == 3  # two drafts and a ruling
    for at in range(3):
        assert finished(f"killed-{at}", at)[1:] == straight[1:]


@pytest.mark.parametrize("error", [MalformedReplyError("no JSON object")])
def test_a_ruling_that_cannot_be_read_holds_nothing_back(
    make_context: MakeContext, folder: RunFolder, error: Exception
) -> None:
    state = start_run("noughts", folder, make_context(roles_of(Drafters(holds=error)), TWO)).state
    assert (state.end, state.accepted, exit_code(state)) == ("made", 0, 0)
    assert f"no ruling was made ({error})" in final_text(state)


def test_where_neither_reading_holds_both_are_to_be_refined(
    make_context: MakeContext, folder: RunFolder
) -> None:
    drafters = Drafters(holds="neither")
    state = start_run("noughts", folder, make_context(roles_of(drafters), TWO)).state
    # The script has no mend, and says so: each candidate is asked once, and one of them once more.
    assert drafters.calls.count("edit") == 3
    assert (state.end, state.accepted) == ("gave_up", None)
    assert [finding.check for c in state.candidates for finding in (c.findings or ())[-1:]] == [
        "reading"
    ] * 2


@pytest.mark.parametrize("bad", [MalformedReplyError("prose"), CRASHES])
def test_one_draft_may_fail(
    make_context: MakeContext, folder: RunFolder, bad: str | Exception
) -> None:
    drafters = Drafters(drafts=(bad, SOURCE))
    state = start_run("noughts", folder, make_context(roles_of(drafters), TWO)).state
    assert (state.end, state.rounds, drafters.asked) == ("made", 0, [])
    assert drafters.calls.count("unit_tests") == 1  # the tests stay for every candidate
    assert state.accepted is not None
    assert state.candidate(state.accepted).source == SOURCE
    assert ("draft 0 could not be read: prose" in state.notes) == isinstance(bad, Exception)


def test_drafts_run_side_by_side_each_at_its_own_place() -> None:
    both = threading.Barrier(3, timeout=20)

    def write() -> str:
        both.wait()  # one after the other, nobody would come
        return f"{current_place()} {current_draft()}"

    found, notes = drafted(write, 3)
    assert [one.source for one in found] == ["code/draft 0", "code/draft/1 1", "code/draft/2 2"]
    assert ([one.number for one in found], notes) == ([0, 1, 2], ())
    same, notes = drafted(lambda: "x", 3)
    assert len(same) == 1
    assert "2 of 3" in notes[0]


def test_where_no_draft_can_be_read_the_first_error_is_raised_and_an_endpoint_s_always() -> None:
    errors = [RoleError("first"), RoleError("second")]

    def write() -> str:
        raise errors[current_draft()]

    with pytest.raises(RoleError, match="first"):
        drafted(write, 2)
    errors[1:] = [EndpointError("gone")]  # type: ignore[list-item]
    with pytest.raises(EndpointError):
        drafted(write, 2)


def test_every_draft_is_checked_before_any_is_chosen() -> None:
    good = Candidate(number=0, source="a", findings=(Finding(check="x", outcome="passed"),))
    bad = Candidate(number=1, source="b", findings=(Finding(check="x", outcome="failed"),))
    assert after_drafts([good, Candidate(number=1, source="b")]) == "check"
    assert after_drafts([good, bad]) == "compare"
    assert after_drafts([bad]) is None
    assert after_drafts([good]) is None


def test_several_candidates_are_refined_by_tree_unless_the_setting_says_otherwise() -> None:
    assert RunSettings().refine == "conversation"
    assert RunSettings(candidates=3).refine == "tree"
    assert RunSettings(candidates=3, refine="conversation").refine == "conversation"


def test_a_further_draft_is_asked_for_warmer(make_context: MakeContext, folder: RunFolder) -> None:
    with serving(answer) as endpoint:
        context = model_context(make_context, endpoint, folder)
        context = replace(context, settings=TWO)
        state = start_run(PROMPT, folder, context).state
        asked = list(endpoint.requests)
    assert state.end == "made", state.reason
    assert "1 of 2 drafts were the same as another, so count once" in state.notes
    warm = [body["temperature"] for body in asked if "temperature" in body]
    assert warm == [1.0]  # the usual 0.8 and one step, for the second draft alone
