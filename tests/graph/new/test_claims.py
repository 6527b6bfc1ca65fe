"""Claims of the validator: none that is wrong ends a run, none that is right is struck."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents.model.budget import Budget
from agents.model.errors import MalformedReplyError
from agents.protocols import (
    Attempt,
    Claim,
    ClaimStatus,
    CoderTools,
    Design,
    Edit,
    Heuristic,
    Mending,
    Objection,
    RefusedTest,
    RoleError,
    Verdict,
    Vote,
)
from games import library
from games.checks import Finding, Outcome
from games.checks.run import CheckSettings
from games.checks.unit_tests import UnitTest
from games.records import MatchRecord
from games.table import Position
from graph.new.build import build, recursion_limit
from graph.new.claims import ClaimEvent, Voted, after, to_settle
from graph.new.context import RunSettings
from graph.new.requests import Remedy
from graph.new.results import exit_code, final_text, open_ends, overruled
from graph.new.state import RunState
from graph.run.candidates import Candidate, best
from graph.run.folder import RunFolder, RunFolderError
from tests.agents.model.talking import settings_for
from tests.agents.roles.games import DESIGN
from tests.graph.conftest import MakeContext
from tests.graph.running import resume_run, start_run
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL

MANY = 20
CHECKS = CheckSettings(matches=2, samples=6, seed=3, max_plies=40)
SETTINGS = SMALL.model_copy(update={"check": CHECKS, "max_rounds": 6, "records_judged": 1})
# Noughts and crosses pays the winner 1 and the loser -1: this draft pays the loser.
PAYS_THE_LOSER = ("return [1, -1] if (player == 0)", "return [-1, 1] if (player == 0)")
# X takes the top row: by the rules seat 0 has won.
WON = ("x 1,1", "o 2,1", "x 1,2", "o 2,2", "x 1,3")


def one_test(function: str, expected: str, actions: Sequence[str] = ()) -> UnitTest:
    return UnitTest.model_validate(
        {
            "name": f"{function} is {expected}",
            "rule": "R1",
            "actions": actions,
            "function": function,
            "expected_json": expected,
        }
    )


# A player to move is seat 0, and nothing was paid: each of these values is wrong.
WRONG_TESTS = [
    *(one_test("get_current_player", str(seat)) for seat in (1, 2, 3, 4, 5, -1, -4, 7, 8, 9)),
    *(one_test("get_rewards", f"[{paid}, 0]") for paid in range(1, 11)),
]


YES, NO = (Vote(upheld=upheld, why="R1") for upheld in (True, False))


@pytest.mark.parametrize(
    ("begins", "event", "ends"),
    [
        ("open", Voted((YES,)), "upheld"),
        ("open", Voted((NO, YES)), "upheld"),
        ("open", Voted((NO, NO)), "struck"),
        ("open", Voted((NO,)), "struck"),  # one against one is no majority
        ("open", Voted(()), "upheld"),
        ("open", "dropped", "dropped"),
        ("upheld", "dropped", "dropped"),
        ("upheld", "overtaken", "overtaken"),
        ("upheld", "carried over", "open"),
        ("struck", "carried over", "struck"),
        ("dropped", Voted((YES,)), "dropped"),
        ("overtaken", "dropped", "overtaken"),
    ],
)
def test_an_event_changes_the_status_of_a_claim_and_one_that_does_not_count_stays(
    begins: ClaimStatus, event: ClaimEvent, ends: ClaimStatus
) -> None:
    claim = Claim(id="T1", rule="R1", says="it pays 1", status=begins)
    votes = event.votes if isinstance(event, Voted) and claim.counts else ()
    assert after(claim, event) == claim.model_copy(update={"status": ends, "votes": votes})


def test_a_test_that_a_revision_carried_over_is_overtaken_and_not_struck() -> None:
    claims = [
        Claim(id=name, rule="R1", says="it pays 1", status="upheld", test=test)
        for name, test in (("T1", WRONG_TESTS[0]), ("V1", None))
    ]
    fates = [after(after(claim, "carried over"), Voted((NO, NO))).status for claim in claims]
    assert fates == ["overtaken", "struck"]


@dataclass
class Claiming(ScriptedRoles):
    """A validator with claims of its own, a coder that contests or bends, arbiters who know."""

    tests: Sequence[UnitTest | RefusedTest] = ()
    blames: bool = False
    contests: bool = True
    upheld: bool | None = False
    asked: list[str] = field(default_factory=list)

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        return self.tests

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        if not self.blames:
            return Verdict(illegal_ply=None, rule="")
        return Verdict(illegal_ply=0, rule="R1", explanation="the wrong seat began", shown="RECORD")

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        self.calls.append("edit")
        if self.contests:
            contests = (
                Objection(finding=n, argument="the rules") for n in range(1, 1 + len(findings))
            )
            return Mending(cause="R1 is kept", contested=tuple(contests))
        bent = Edit(search=source, replace=source + f"# edit {self.calls.count('edit')}\n")
        return Mending(cause="bent", edits=(bent,))

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        self.asked.append(claim.id)
        if self.upheld is None:
            raise MalformedReplyError("prose")
        return Vote(upheld=self.upheld, why="worked out from R1")


def until_judged(
    roles: ScriptedRoles, make_context: MakeContext, settings: RunSettings
) -> RunState:
    """A run up to the acceptance of a candidate, or to its end."""
    graph = build().compile(checkpointer=InMemorySaver(), interrupt_before=["strategize"])
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": recursion_limit(20)}
    context = make_context(role_set(roles), settings)
    graph.invoke({"messages": [("user", "noughts")]}, config, context=context)  # type: ignore[call-overload]
    return RunState(**graph.get_state(config).values)  # type: ignore[arg-type]


class Sloppy(Claiming):
    """It contests the first finding, and quotes a line that is not there."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        self.asked.append(f"edit, told {[f.evidence for f in findings if f.check == 'edit']}")
        contested = (Objection(finding=1, argument="the rules"),)
        return Mending(contested=contested, edits=(Edit(search="no such line", replace=""),))


def test_an_edit_that_missed_is_told_though_a_vote_came_between(make_context: MakeContext) -> None:
    roles = Sloppy(tests=WRONG_TESTS[:2], upheld=True)
    until_judged(roles, make_context, SETTINGS)
    first, vote, second = roles.asked[:3]
    assert (first, vote) == ("edit, told []", "T1")
    assert "no such line" in second


def test_a_test_that_could_not_be_used_is_told_and_leaves_the_others(
    make_context: MakeContext,
) -> None:
    refused = RefusedTest(name="the end", rule="R1", why="expected_json is not JSON")
    right = one_test("get_current_player", "0")
    state = until_judged(Claiming(tests=[refused, right]), make_context, SETTINGS)
    assert state.accepted is not None
    assert [(one.id, one.status) for one in state.claims] == [("T1", "open"), ("T2", "dropped")]
    assert "expected_json is not JSON" in "\n".join(open_ends(state))


class Mended(Claiming):
    """Asked again for the test that leaves a turn out, it plays that turn; or it insists."""

    insists = False

    def tests_again(
        self, design: Design, source: str, refused: Sequence[RefusedTest]
    ) -> Sequence[UnitTest | RefusedTest]:
        self.calls.append("tests_again")
        (told,) = refused
        assert "action 1 ('x 1,2') is not legal" in told.why
        return self.tests[:1] if self.insists else [one_test("get_rewards", "[1, -1]", WON)]


@pytest.mark.parametrize("insists", [True, False])
def test_a_test_that_leaves_a_turn_out_is_asked_for_again_before_the_coder_is(
    make_context: MakeContext, *, insists: bool
) -> None:
    x_alone = one_test("get_rewards", "[1, -1]", WON[::2])
    roles = Mended(tests=[x_alone, one_test("get_current_player", "0")])
    roles.insists = insists
    state = until_judged(roles, make_context, SETTINGS)
    assert state.accepted is not None
    assert roles.calls.count("tests_again") == 1
    assert roles.calls.count("edit") == int(insists)
    assert sorted(claim.status for claim in state.claims) == [
        "open",
        "struck" if insists else "open",
    ]


@pytest.mark.parametrize("contests", [True, False])
def test_twenty_wrong_tests_end_no_run_whether_or_not_the_coder_objects(
    make_context: MakeContext, *, contests: bool
) -> None:
    roles = Claiming(tests=WRONG_TESTS, contests=contests)
    state = until_judged(roles, make_context, SETTINGS)
    assert len(WRONG_TESTS) == MANY
    assert state.accepted is not None
    assert {claim.status for claim in state.claims} == {"struck"}
    assert all(len(claim.votes) == 2 for claim in state.claims)
    assert all("(against it: worked out from R1)" in told for told in overruled(state))
    assert open_ends(state) == []
    assert roles.calls.count("edit") == (1 if contests else 2)


@pytest.mark.parametrize("contests", [True, False])
def test_twenty_wrong_verdicts_end_no_run_whether_or_not_the_coder_objects(
    make_context: MakeContext, *, contests: bool
) -> None:
    roles = Claiming(blames=True, contests=contests)
    settings = SETTINGS.model_copy(update={"records_judged": MANY})
    state = until_judged(roles, make_context, settings)
    assert state.accepted is not None
    struck = [claim for claim in state.claims if claim.status == "struck"]
    assert len(struck) >= MANY
    judged = [f for f in state.candidate(state.accepted).findings or () if f.check == "record"]
    assert [f.outcome for f in judged] == ["passed"] * MANY


def test_of_twenty_right_tests_a_stubborn_coder_has_none_struck(make_context: MakeContext) -> None:
    right = [
        one_test("get_rewards", "[1, -1]", WON).model_copy(update={"name": f"X has won, {n}"})
        for n in range(MANY)
    ]
    roles = Claiming(faults=[PAYS_THE_LOSER], tests=right, upheld=True)
    state = until_judged(roles, make_context, SETTINGS)
    assert (state.end, state.accepted) == ("gave_up", None)
    assert {claim.status for claim in state.claims} == {"upheld"}
    # Each was voted on once, however often it was contested: one vote more is two of three.
    assert len(roles.asked) == MANY


def test_an_arbiter_that_cannot_be_read_has_no_vote(make_context: MakeContext) -> None:
    roles = Claiming(tests=WRONG_TESTS[:1], upheld=None)
    state = until_judged(roles, make_context, SETTINGS)
    assert state.end == "gave_up"  # one vote of one: the first validator's
    assert [(claim.status, claim.votes) for claim in state.claims] == [("upheld", ())]


def test_a_programs_finding_is_never_voted_on(make_context: MakeContext) -> None:
    crash = ("return [1, -1] if (player == 0)", "return [1, -1, 0] if (player == 0)")
    roles = Claiming(faults=[crash])
    state = until_judged(roles, make_context, SETTINGS.model_copy(update={"max_rounds": 2}))
    assert (state.end, roles.asked) == ("gave_up", [])
    assert "made by a program" in state.reason


def test_every_candidate_is_held_against_the_same_tests(make_context: MakeContext) -> None:
    sound = [one_test("get_current_player", "0"), one_test("get_rewards", "[0, 0]")]
    roles = Claiming(
        faults=[PAYS_THE_LOSER], tests=[*sound, one_test("get_rewards", "[1, -1]", WON)]
    )
    roles.edit = ScriptedRoles.edit.__get__(roles)  # type: ignore[method-assign]
    state = until_judged(roles, make_context, SETTINGS)
    held = [
        sorted(found.claim for found in candidate.findings or () if found.claim.startswith("T"))
        for candidate in state.candidates
    ]
    assert held == [["T1", "T2", "T3"]] * 2
    assert state.candidates[0].share_passed < state.candidates[1].share_passed


class Silent(Claiming):
    """A validator whose replies cannot be read."""

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest]:
        raise MalformedReplyError("no test could be read")

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        raise RoleError("no verdict could be read")


def test_a_checked_game_is_delivered_without_a_validator_that_cannot_be_read(
    make_context: MakeContext, folder: RunFolder
) -> None:
    state = start_run("noughts", folder, make_context(role_set(Silent()), SETTINGS)).state
    assert (state.end, exit_code(state)) == ("delivered", 0)
    told = final_text(state)
    assert "no test could be read" in told
    assert "no verdict could be read" in told


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_a_claim_that_won_against_the_coder_is_told_with_both_sides(outcome: Outcome) -> None:
    found = Finding(check="unit_test", outcome=outcome, evidence="as before", claim="T1")
    candidate = Candidate(number=0, source="x = 1\n", findings=(found,))
    claim = Claim(id="T1", rule="R4", says="3 lacks", status="upheld", argument="R4: as high or")
    state = RunState(accepted=0, candidates=(candidate,), claims=(claim,))
    told = "".join(overruled(state))
    assert ("R4: as high or" in told) == ("3 lacks" in told) == (outcome == "passed")
    assert overruled(state.holding([without_argument(claim)])) == []


@pytest.mark.parametrize(("outcome", "way"), [("could_not_judge", "--rounds"), ("failed", "edit ")])
def test_the_design_is_blamed_only_where_its_decisions_failed(outcome: Outcome, way: str) -> None:
    found = Finding(check="decisions", outcome=outcome, evidence="no random match finished")
    candidate = Candidate(number=0, source="x = 1\n", findings=(found,))
    state = RunState(end="gave_up", candidates=(candidate,), folder="there")
    assert way in final_text(state)


@pytest.mark.parametrize(("parent", "told"), [(None, False), (0, True)])
def test_a_draft_that_was_never_edited_passed_after_no_refinement(
    parent: int | None, told: bool
) -> None:
    found = Finding(check="start", outcome="passed", evidence="")
    taken = Candidate(number=1, parent=parent, source="x = 1\n", findings=(found,))
    first = Candidate(number=0, source="x = 2\n", findings=())
    state = RunState(accepted=1, candidates=(first, taken), design=DESIGN, rounds=2, end="made")
    assert ("after 2 refinements" in final_text(state)) == told


def without_argument(claim: Claim) -> Claim:
    """A claim that came to the vote by itself."""
    return claim.model_copy(update={"argument": ""})


@pytest.fixture
def gave_up(make_context: MakeContext, folder: RunFolder) -> Claiming:
    """Roles of a run that gave up over a test that arbiters upheld."""
    roles = Claiming(tests=WRONG_TESTS[:1], upheld=True)
    settings = SETTINGS.model_copy(update={"max_rounds": 1})
    state = start_run("noughts", folder, make_context(role_set(roles), settings)).state
    assert (state.end, exit_code(state)) == ("gave_up", 1)
    assert "--drop-test T1" in final_text(state)
    return roles


@pytest.mark.parametrize(
    ("remedy", "end", "code"),
    [
        (Remedy(drop="T1"), "delivered", 0),
        (Remedy(accept=True), "delivered", 1),
        (Remedy(rounds=2), "gave_up", 1),
    ],
)
def test_a_person_can_go_on_with_a_run_that_gave_up(
    make_context: MakeContext,
    folder: RunFolder,
    gave_up: Claiming,
    remedy: Remedy,
    end: str,
    code: int,
) -> None:
    settings = SETTINGS.model_copy(update={"max_rounds": 1 + remedy.rounds})
    context = make_context(role_set(gave_up), settings)
    state = resume_run(folder, context, remedy=remedy).state
    assert (state.end, exit_code(state)) == (end, code)
    assert state.rounds == 1 + remedy.rounds
    assert ("not all checks passed" in final_text(state)) == remedy.accept
    again = resume_run(folder, context).state
    assert again == state


class Killed(Claiming):
    """A coder and a strategist in whose call the process ends."""

    def edit(self, *_: object) -> Mending:
        raise KeyboardInterrupt

    def heuristics(self, *_: object) -> Sequence[Heuristic]:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("remedy", "end"), [(Remedy(accept=True), "delivered"), (Remedy(rounds=2), "gave_up")]
)
def test_a_run_killed_in_the_first_node_after_a_remedy_goes_on_there(
    make_context: MakeContext, folder: RunFolder, gave_up: Claiming, remedy: Remedy, end: str
) -> None:
    settings = SETTINGS.model_copy(update={"max_rounds": 1 + remedy.rounds})
    with pytest.raises(KeyboardInterrupt):
        resume_run(folder, make_context(role_set(Killed()), settings), remedy=remedy)
    state = resume_run(folder, make_context(role_set(gave_up), settings)).state
    assert (state.end, state.rounds) == (end, 1 + remedy.rounds)


class Worsening(Claiming):
    """A coder that contests nothing, and whose edit breaks what had passed."""

    def edit(self, design: Design, source: str, *_: object) -> Mending:
        new = source.replace('"name": "tic_tac_toe"', '"name": 3')
        assert new != source
        return Mending(cause="bent", edits=(Edit(search=source, replace=new),))


def test_of_a_run_that_gave_up_the_best_candidate_is_shown_and_no_vote_is_asked_in_vain(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Worsening(tests=WRONG_TESTS[:1], upheld=True)
    context = make_context(role_set(roles), SETTINGS.model_copy(update={"max_rounds": 1}))
    state = start_run("noughts", folder, context).state
    assert (state.end, best(state.candidates).number) == ("gave_up", 0)
    assert (folder.path / "game.py").read_text() == state.candidate(0).source
    assert "unit_test" in state.reason
    assert "\n" not in state.reason  # a test's sequence is for the coder
    resumed = resume_run(folder, context, remedy=Remedy(accept=True)).state
    assert resumed.accepted == 0


def test_where_nobody_decides_another_design_is_advised_and_no_further_round(
    make_context: MakeContext, folder: RunFolder
) -> None:
    forced = ("for where in empty]", "for where in empty][:1]")
    roles = ScriptedRoles(faults=[forced], mends=False)
    context = make_context(role_set(roles), SETTINGS.model_copy(update={"max_rounds": 0}))
    told = final_text(start_run("noughts", folder, context).state)
    assert "decisions" in told
    assert "--from design" in told
    assert "--rounds" not in told


def test_claims_beside_an_upheld_one_are_not_put_to_the_vote_at_the_end() -> None:
    first, second = WRONG_TESTS[:2]
    claims = [
        Claim(id="T1", rule="R1", says="", status="upheld", test=first),
        Claim(id="T2", rule="R1", says="", test=second),
    ]
    both, one = (
        Candidate(
            number=0,
            source="",
            findings=tuple(Finding(check="unit_test", outcome="failed", claim=c.id) for c in of),
        )
        for of in (claims, claims[1:])
    )
    assert to_settle(claims, [both], last=True) == ()
    assert [claim.id for claim in to_settle(claims, [one], last=True)] == ["T2"]


def test_a_remedy_that_a_run_cannot_take_is_refused(
    make_context: MakeContext, folder: RunFolder, gave_up: Claiming
) -> None:
    context = make_context(role_set(gave_up), SETTINGS)
    with pytest.raises(RunFolderError, match="'T9'.*T1"):
        resume_run(folder, context, remedy=Remedy(drop="T9"))
    resume_run(folder, context, remedy=Remedy(drop="T1"))
    with pytest.raises(RunFolderError, match="its end: delivered"):
        resume_run(folder, context, remedy=Remedy(accept=True))


def test_a_claim_keeps_its_votes_in_the_files_of_the_run(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = replace(Claiming(tests=WRONG_TESTS[:1]))
    start_run("noughts", folder, make_context(role_set(roles), SETTINGS))
    for name in ("checks.json", "run.json"):
        (claim,) = folder.read_json(name)["claims"]  # type: ignore[index]
        assert (claim["id"], claim["status"], len(claim["votes"])) == ("T1", "struck", 2)
    assert folder.read_json("run.json")["end"] == "made"  # type: ignore[index]
    assert "T1" in (folder.path / "report.html").read_text()


PEEK = """
_sound = get_observations
def get_observations(state):
    return [{**seen, "peek": seat} if seat else seen for seat, seen in enumerate(_sound(state))]
"""


@dataclass
class Peeking(Claiming):
    """A draft that shows the second player a field more, and a coder that contests or mends it."""

    facts: list[Sequence[str]] = field(default_factory=list)

    def draft(self, design: Design, tools: CoderTools) -> str:
        return library.source("tic_tac_toe") + PEEK

    def judge(self, *given: object) -> Verdict:
        self.facts.append(list(given[3]))  # type: ignore[call-overload]
        return Verdict(illegal_ply=None, rule="")

    def edit(self, design: Design, source: str, findings: Sequence[Finding], *_: object) -> Mending:
        if self.contests:
            return Mending(contested=(Objection(finding=1, argument="R1 does not forbid it"),))
        return Mending(cause="a field too many", edits=(Edit(search=PEEK, replace=""),))


@pytest.mark.parametrize(("contests", "fate"), [(True, "struck"), (False, "open")])
def test_seats_that_no_rule_sets_apart_are_a_claim_that_can_be_contested(
    make_context: MakeContext, folder: RunFolder, contests: bool, fate: str
) -> None:
    roles = Peeking(contests=contests)
    context = make_context(role_set(roles), SETTINGS)
    context.budget = Budget(settings_for())
    state = start_run("noughts", folder, context).state
    (claim,) = state.claims
    assert (claim.id, claim.status) == ("S1", fate)
    assert "is shown the field 'peek': only seat 1" in claim.says
    assert state.end == "made"
    marks = {"may choose 'x'", "may choose 'o'"}  # whoever has the first turn has the crosses
    told = {fact.partition(":")[0] for fact in roles.facts[-1]}
    assert told == marks | ({"is shown the field 'peek'"} if contests else set())
