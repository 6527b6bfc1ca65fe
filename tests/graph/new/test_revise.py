"""A conversation: a message on a game that is there is answered, or changes it beside the old."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.composer import composer_roles
from agents.model.errors import MalformedReplyError
from agents.protocols import (
    Attempt,
    Brief,
    Claim,
    CoderTools,
    Design,
    Edit,
    Mending,
    RefusedTest,
    Revision,
    RoleError,
    Talk,
    Vote,
)
from games.checks import Finding
from games.checks.unit_tests import UnitTest
from graph.new.claims import carried
from graph.new.context import RunContext
from graph.new.requests import begin_again, by_form, read_form, read_request, write_request
from graph.new.results import RunResult, closing_text, final_text, rule_changes
from graph.new.state import RunState, need_design
from graph.run.candidates import Candidate
from graph.run.events import Tell
from graph.run.folder import RunFolder, RunFolderError, create_folder, find_folder
from tests.graph.conftest import Entries, MakeContext
from tests.graph.new.test_again import content
from tests.graph.new.test_chat import Chat
from tests.graph.running import resume_run, start_run
from tests.graph.scripted import DESIGN, ScriptedRoles, role_set
from tests.graph.settings import SMALL, UNPLAYED
from tools.balancing.wishes import Wish


def revised(folder: RunFolder, context: RunContext, message: str) -> RunResult:
    request = read_request(folder)
    write_request(request.model_copy(update={"answers": (*request.answers, message)}), folder)
    return resume_run(folder, context)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made") / "run"


@pytest.fixture
def finished(made: Path, make_context: MakeContext, tmp_path: Path) -> RunFolder:
    """A copy of one finished run of the composer's."""
    if not made.exists():
        context = make_context(composer_roles())
        start_run("goofspiel for two players with three cards", fresh(made), context)
    return RunFolder(shutil.copytree(made, tmp_path / "copy"))


def fresh(path: Path) -> RunFolder:
    return create_folder(path, title="", runs=path.parent)


def test_a_change_makes_a_game_beside_the_old_one(
    finished: RunFolder, make_context: MakeContext
) -> None:
    before = content(finished)
    done = revised(finished, make_context(composer_roles()), "make it four cards")
    state, folder = done.state, finished.revision(1)
    assert (state.end, state.folder) == ("made", str(folder.path))
    assert state.design is not None
    assert state.design.parameters["cards"] == 4
    now = content(finished)
    assert {name: now[name] for name in before if name != ".state/request.json"} == {
        name: text for name, text in before.items() if name != ".state/request.json"
    }
    changes = (folder.path / "changes.md").read_text()
    assert "cards (changed): 3 → 4" in changes
    assert "| before (" in changes
    assert "+++ game.py" in changes
    assert "cards (changed)" in final_text(state)
    page = (folder.path / "report.html").read_text()
    assert "What changed" in page
    assert "Before and after" in page
    assert "<h2>Mechanics</h2>" in page
    assert "M1: the game ends (end; rules" in page
    assert f"rulewright compare {finished.path} {folder.path}" in closing_text(done)
    assert {"game.py", "run.json", "players", "records"} <= {p.name for p in folder.path.iterdir()}


def test_a_question_is_answered_from_what_is_known_and_nothing_is_made(
    finished: RunFolder, make_context: MakeContext
) -> None:
    before = content(finished)
    done = revised(finished, make_context(composer_roles()), "why does the first player win?")
    assert done.state.end == "made"
    assert "Is it fair?" in final_text(done.state)
    assert "rulewright compare" not in closing_text(done)
    assert content(finished).keys() == before.keys()


class Hearing(ScriptedRoles):
    """A designer that tells what it is told before a message."""

    def revise(self, design: Design, brief: Brief, talk: Talk) -> Revision:
        assert len(talk.figures) > 2
        self.calls += [f"told: {line}" for said in talk.history for line in said.split("\n")]
        self.calls += [f"told: {line}" for line in (*talk.figures, *brief.prompt.split("\n"))]
        return super().revise(design, brief, talk)


def test_nothing_that_was_said_or_measured_is_told_the_designer_twice(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Hearing()
    context = make_context(role_set(roles))
    start_run("noughts", folder, context)
    revised(folder, context, "who wins?")
    first = [call for call in roles.calls if call.startswith("told: ")]
    revised(folder, context, "why?")
    again = [call for call in roles.calls if call.startswith("told: ")][len(first) :]
    for told in (first, again):
        assert len([call for call in told if call.endswith("noughts")]) == 1
        assert len([call for call in told if call.startswith("told: Is it fair?")]) == 1
    assert len([call for call in again if "who wins?" in call]) == 1


def test_what_the_composer_cannot_is_said_and_the_game_stays(
    finished: RunFolder, make_context: MakeContext
) -> None:
    context = make_context(composer_roles())
    for message in (
        "for five hundred players",
        "a dragon eats the loser",
        "tic tac toe for two",
    ):
        done = revised(finished, context, message)
        said = final_text(done.state)
        assert "Nothing was changed" in said or "another game" in said, said
        assert done.state.revision == 0


@pytest.mark.whole
def test_revisions_follow_one_another_and_are_made_again_with_the_same_bytes(
    finished: RunFolder, make_context: MakeContext, entries: Entries
) -> None:
    context = make_context(composer_roles())
    revised(finished, context, "make it four cards")
    revised(finished, context, "how long is it?")
    last = revised(finished, context, "make it for three players")
    assert last.state.design is not None
    assert (last.state.design.num_players, last.state.design.parameters["cards"]) == (3, 4)
    assert last.state.before is not None
    assert (last.state.revision, last.state.before.revision) == (2, 1)
    before = content(finished)
    entries.clear()  # their matches are really played again
    begin_again(finished, None, edits=True)
    assert not (finished.revision(1).path / "game.py").exists()
    resume_run(finished, context)
    assert content(finished) == before


def test_where_no_rule_changed_nothing_is_coded_checked_or_played_again(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = ScriptedRoles()
    context = make_context(role_set(roles))
    first = start_run("noughts", folder, context).state
    asked = len(roles.calls)
    done = revised(folder, context, "rename").state
    assert roles.calls[asked:] == ["revise"]
    assert done.design is not None
    assert (done.design.title, done.end) == ("Rings", "made")
    assert done.evaluation == first.evaluation
    new = folder.revision(1).path
    for name in ("game.py", "checks.json", "players/players.json", "records/random.jsonl"):
        assert (new / name).read_bytes() == (folder.path / name).read_bytes()
    assert not list((new / ".state" / "journals").iterdir())


class Marking(ScriptedRoles):
    """Edits the accepted source for each changed rule, and never drafts it anew."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        self.calls.append("edit")
        (found,) = findings
        first = source.splitlines()[0]
        new = f"{first}\n# {found.rule}: {found.evidence}"
        return Mending(edits=(Edit(search=first, replace=new),))

    def draft(self, design: Design, tools: CoderTools) -> str:
        assert "draft" not in self.calls
        return super().draft(design, tools)


def test_a_changed_rule_is_edited_into_the_accepted_code(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Marking()
    context = make_context(role_set(roles))
    start_run("noughts", folder, context)
    done = revised(folder, context, "The last mark counts double.").state
    assert (done.end, roles.calls.count("edit")) == ("made", 1)
    source = (folder.revision(1).path / "game.py").read_text()
    assert "# R2: the person changed the game; R2, new: The last mark counts double." in source
    assert "Reply: Added R2." in final_text(done)
    new = folder.revision(1)
    assert new.read_json("run.json")["reply"] == "Added R2."  # type: ignore[index]
    for name in ("changes.md", "report.html"):
        assert "Added R2." in (new.path / name).read_text()


class Reviving(Marking):
    """A revision that brings an old fault back, and a validator that tests the changed rule."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        old, new = '"player": 0,', '"player": 1,'
        if findings[0].check == "revision":
            tried = tools.run_tests(source.replace(old, new))
            self.calls += [f"tried: {found.outcome}" for found in tried]
            return Mending(edits=(Edit(search=old, replace=new),), refused=("edit 2 missed",))
        self.calls += [f.evidence for f in findings if f.check == "edit"]
        raise RoleError("the script has no mend")

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        self.calls.append(f"unit_tests {', '.join(amended)}")
        return super().unit_tests(design, source) if len(design.rules) == 1 else []


def test_tests_of_rules_that_a_revision_leaves_alone_hold_for_it_too(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Reviving()
    context = make_context(role_set(roles))
    start_run("noughts", folder, context)
    done = revised(folder, context, "Players are polite.").state
    assert [call for call in roles.calls if call.startswith("unit_tests ")][1:] == ["unit_tests R2"]
    failed = [f.claim for f in done.candidates[0].findings or () if f.outcome == "failed"]
    assert (done.end, failed) == ("gave_up", ["T1"])
    assert "tried: failed" in roles.calls  # the coder could have seen it before
    assert "edit 2 missed" in roles.calls


class Overtaking(Reviving):
    """A revision after which another player rightly begins, as any validator says who is asked."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        mending = super().edit(design, source, findings, tools, earlier)
        changed = source.replace('"player": 0,', '"player": 1,')
        self.calls += [f"told: {found.evidence}" for found in tools.run_tests(changed)]
        return mending

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        self.calls.append(f"arbitrate {claim.id}: {claim.argument}")
        return Vote(upheld=False, why="player 2 begins by now")


def test_a_test_that_a_change_of_another_rule_overtook_is_voted_on_and_no_blame_on_the_game(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Overtaking()
    context = make_context(role_set(roles))
    start_run("noughts", folder, context)
    done = revised(folder, context, "Player 2 begins.").state
    assert [claim.status for claim in done.claims] == ["overtaken"]
    assert (done.end, done.rounds) == ("made", 0)
    assert any("The test is older than the change" in call for call in roles.calls)
    asked = [call for call in roles.calls if call.startswith("arbitrate")]
    assert len(asked) == 2
    assert all("T1: The test was written before the rules were changed" in call for call in asked)


class Shifting(Reviving):
    """A revision by which another player begins: no line of play of the game before is left."""

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        tests = super().unit_tests(design, source, amended)
        old = {"actions": ("x 1,1",), "expected_json": "1"}
        return [one.model_copy(update=old) for one in tests if isinstance(one, UnitTest)]


class ShiftingOne(Shifting):
    """The same, and a second test of the rule holds for the game that it made."""

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        tests = super().unit_tests(design, source, amended)
        shown = {"actions": (), "function": "get_rewards", "expected_json": "[0, 0]"}
        more = [one.model_copy(update=shown) for one in tests if isinstance(one, UnitTest)]
        return [*tests, *more]


@pytest.mark.parametrize(
    ("roles", "statuses"),
    [(Shifting(), ["overtaken"]), (ShiftingOne(), ["overtaken", "open"])],
    ids=["its rule's only one", "beside another of its rule"],
)
def test_a_test_that_a_revision_leaves_no_line_of_play_is_asked_for_anew_and_not_held(
    make_context: MakeContext, folder: RunFolder, roles: Shifting, statuses: list[str]
) -> None:
    context = make_context(role_set(roles))
    start_run("noughts", folder, context)
    done = revised(folder, context, "Player 2 begins.").state
    asked = [call for call in roles.calls if call.startswith("unit_tests ")]
    assert asked[1:] == ["unit_tests R2, R1"]
    assert "tried: could_not_judge" in roles.calls  # nor does the coder's own run hold it
    assert "tried: failed" not in roles.calls
    assert [claim.status for claim in done.claims] == statuses
    assert done.end == "delivered"  # none can tell whether the revision or its code made it so
    assert "no test of R1 as it reads now" in done.reason


def test_with_other_settings_no_test_of_the_game_before_is_carried_over() -> None:
    test = UnitTest(
        name="x", rule="R1", actions=(), function="get_current_player", expected_json="0"
    )
    kept, other = (
        Claim(id=f"T{n}", rule=f"R{n}", says="", test=test, status="upheld") for n in (1, 2)
    )
    found = [Finding(check="unit_test", outcome="passed", claim=one.id) for one in (kept, other)]
    candidate = Candidate(number=0, source="x", findings=tuple(found))
    revised = DESIGN.model_copy(update={"parameters": {"new": 1}})
    stands = kept.model_copy(
        update={"status": "open", "older": True}
    )  # the vote was on the rules before
    assert carried((kept, other), candidate, DESIGN, revised) == (stands,)
    revised = DESIGN.model_copy(update={"num_players": 3})
    assert carried((kept,), candidate, DESIGN, revised) == ()
    before = DESIGN.model_copy(update={"parameters": {"size": 3}})
    revised = DESIGN.model_copy(update={"parameters": {"size": 4}})
    assert carried((kept,), candidate, before, revised) == ()
    assert carried((kept,), Candidate(number=0, source="x", findings=()), DESIGN, DESIGN) == ()


def test_a_coder_that_has_nothing_to_edit_keeps_the_code_and_its_matches(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context = make_context(role_set(ScriptedRoles()))
    start_run("noughts", folder, context)
    played = folder.journals / "random.jsonl"
    done = revised(folder, context, "Players are polite.").state
    assert done.end == "made"
    assert (folder.revision(1).journals / "random.jsonl").read_bytes() == played.read_bytes()


def test_a_form_goes_before_the_words_that_hold_and_no_question_or_undone_change_is_among_them(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context = make_context(role_set(ScriptedRoles()), UNPLAYED)
    start_run("noughts", folder, context)
    for message in ("Nobody may pass.", "The last mark counts double.", "is it fair?", "undo"):
        revised(folder, context, message)
    remade = by_form(read_request(folder), read_form(folder), folder)
    assert remade.prompt == "noughts\nNobody may pass."


class Mute(ScriptedRoles):
    """No edit of it can be read."""

    def edit(self, *_: object) -> Mending:
        raise MalformedReplyError("no usable reply")


def test_an_undo_is_heard_where_no_usable_reply_is_had_for_the_change(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context = make_context(role_set(Mute()), UNPLAYED)
    first = start_run("noughts", folder, context).state
    with pytest.raises(MalformedReplyError):
        revised(folder, context, "Nobody may pass.")
    with pytest.raises(MalformedReplyError):  # nothing more was said: it is asked again
        resume_run(folder, context)
    assert " said, " in revised(folder, context, "is it fair?").state.summary
    with pytest.raises(MalformedReplyError):  # the question left the change to be made
        resume_run(folder, context)
    undone = revised(folder, context, "undo").state
    assert (undone.end, undone.design) == (first.end, first.design)


def test_a_change_that_a_question_went_before_is_made_once_a_coder_answers(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context = make_context(role_set(Mute()), UNPLAYED)
    start_run("noughts", folder, context)
    with pytest.raises(MalformedReplyError):
        revised(folder, context, "Nobody may pass.")
    revised(folder, context, "is it fair?")
    done = resume_run(folder, make_context(role_set(ScriptedRoles()), UNPLAYED)).state
    assert (done.revision, done.accepted, need_design(done).rules[-1].id) == (1, 0, "R2")


def test_a_message_after_a_revision_that_broke_off_is_on_the_same_game(
    make_context: MakeContext,
) -> None:
    class Breaking(ScriptedRoles):
        def edit(self, *_: object) -> Mending:
            raise KeyboardInterrupt

    chat = Chat(make_context(role_set(Breaking()), UNPLAYED))
    first = chat.say("noughts")
    with pytest.raises(KeyboardInterrupt):
        chat.say("Nobody may pass.")
    undone = chat.say("undo")
    assert undone["design"] == first["design"]
    assert undone["folder"].startswith(first["folder"])


class Seating(ScriptedRoles):
    """Another number of players, which the code takes as it stands."""

    def design(self, *_: object) -> Design:
        return DESIGN.model_copy(update={"family": "push_your_luck", "num_players": 2})

    def revise(self, design: Design, *_: object) -> Revision:
        return Revision(reply="Three.", design=design.model_copy(update={"num_players": 3}))


@pytest.mark.whole
def test_code_that_takes_more_players_as_it_stands_is_played_anew_by_them(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context = make_context(role_set(Seating()), UNPLAYED)
    start_run("press on", folder, context)
    revised(folder, context, "for three players")
    with (folder.revision(1).journals / "random.jsonl").open() as journal:
        assert json.loads(journal.readline())["identity"]["num_players"] == 3


class Spoiling(Marking):
    """A revision that breaks the code, and cannot mend it."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        if findings[0].check != "revision":
            return super(Marking, self).edit(design, source, findings, tools, earlier)
        edit = Edit(search="def get_rewards(state: State)", replace="def get_reward(state)")
        return Mending(edits=(edit,))


def test_a_revision_that_fails_leaves_the_game_before_it_to_be_revised(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context = make_context(role_set(Spoiling()))
    start_run("noughts", folder, context)
    failed = revised(folder, context, "The last mark counts double.").state
    assert failed.end == "gave_up"
    assert f"The game before it stays as it was: {folder.path}" in final_text(failed)
    again = revised(folder, make_context(role_set(ScriptedRoles())), "Shorter.").state
    assert (again.end, again.revision) == ("made", 2)
    assert again.before is not None
    assert again.before.revision == 0


def test_a_designer_hears_why_there_is_no_game_however_much_was_said_since(
    make_context: MakeContext, folder: RunFolder
) -> None:
    heard: list[Talk] = []

    class Hearing(Spoiling):
        def revise(self, design: Design, brief: Brief, talk: Talk) -> Revision:
            heard.append(talk)
            return super().revise(design, brief, talk)

    context = make_context(role_set(Hearing()), UNPLAYED)
    start_run("noughts", folder, context)
    for message in ("The last mark counts double.", "what failed?", "and why?"):
        revised(folder, context, message)
    assert [any("No finished game" in line for line in talk.figures) for talk in heard] == [
        False,
        True,
        True,
    ]
    assert not any("No finished game" in said for talk in heard for said in talk.history)


def test_a_designer_hears_what_was_said_and_what_was_measured(make_context: MakeContext) -> None:
    chat = Chat(make_context(role_set(ScriptedRoles())))
    chat.say("noughts")
    assert (
        chat.say("is it fair?")["messages"][-1].text == "1 said, 7 figures"
    )  # that no match ended by the rules, five answers, and what each seat won
    assert chat.say("are you \ud800 sure?")["messages"][-1].text == "3 said, 7 figures"


def test_words_at_the_approval_change_the_design_at_hand(make_context: MakeContext) -> None:
    roles = ScriptedRoles()
    chat = Chat(make_context(role_set(roles), SMALL.model_copy(update={"approve": True})))
    chat.say("noughts")
    asked = chat.say("is it fair?")
    assert "0 said, 0 figures" in asked["__interrupt__"][0].value["ask"]
    changed = chat.say("The last mark counts double.")
    assert "Added R2." in changed["__interrupt__"][0].value["ask"]
    assert "R2 (new): The last mark" in changed["__interrupt__"][0].value["description"]
    done = chat.say("yes")
    assert (done["end"], done["revision"]) == ("made", 0)
    assert roles.calls.count("design") == 1
    again = chat.say("Nobody may pass.")
    assert again["design"].rules[-1].id == "R3"
    assert again["end"] is None
    assert chat.say("no")["end"] == "gave_up"


def test_a_thread_revises_and_begins_another_game_where_that_is_asked_for(
    make_context: MakeContext,
) -> None:
    chat = Chat(make_context(composer_roles()))
    first = chat.say("goofspiel for two players with three cards")
    second = chat.say("make it four cards")
    assert second["folder"] == str(Path(first["folder"]) / "revisions" / "1")
    other = chat.say("tic tac toe for two players")
    assert (other["design"].family, other["revision"], other["before"]) == ("tic_tac_toe", 0, None)
    assert Path(other["folder"]).parent == Path(first["folder"]).parent


def test_a_diff_of_rules_names_what_is_new_dropped_and_changed() -> None:
    rule = DESIGN.rules[0]
    after = DESIGN.model_copy(
        update={
            "rules": (rule.model_copy(update={"id": "R2"}),),
            "num_players": 3,
            "parameters": {"size": 4},
        }
    )
    found: list[Any] = [(line.name, line.state) for line in rule_changes(DESIGN, after)]
    assert found == [("R1", "dropped"), ("num_players", "changed"), ("R2", "new"), ("size", "new")]
    assert rule_changes(DESIGN, DESIGN) == ()


def test_the_folder_of_a_revision_belongs_to_its_run(finished: RunFolder, tmp_path: Path) -> None:
    stranger = RunFolder(tmp_path / "revisions" / "1")  # runs may be kept in a folder so called
    assert stranger.root == stranger
    sub = finished.revision(1)
    sub.journals.mkdir(parents=True)
    assert sub.root == finished
    assert finished.revisions == (sub,)
    assert find_folder(str(sub.path), tmp_path, to_go_on=True) == finished
    newest = finished.revision(2)
    newest.journals.mkdir(parents=True)
    with pytest.raises(RunFolderError, match=f"goes on with {newest.path}"):
        find_folder(str(sub.path), tmp_path, to_go_on=True)
    assert find_folder(str(sub.path), tmp_path) == finished
    assert json.loads((finished.path / "run.json").read_text())["revision"] == 0
    assert RunState().made is None


def test_a_wish_for_variants_or_a_fairer_game_is_searched_and_no_rule_is_changed(
    finished: RunFolder, make_context: MakeContext
) -> None:
    heard: list[Wish] = []

    def invent(wish: Wish, folder: RunFolder, seed: int, tell: Tell) -> str:
        heard.append(wish)
        return f"{wish} of {folder.path.name}, seed {seed}"

    context = make_context(composer_roles())
    context.invents = invent
    done = revised(finished, context, "Give me five twists of this.")
    assert heard == [Wish(variants=5)]
    assert "variants=5" in final_text(done.state)
    assert done.state.revision == 0
    done = revised(finished, context, "make it fairer for the last player")
    assert heard[1:] == [Wish(target="last player 50±5 %")]
    done = revised(finished, context, "make it four cards")  # a change of its own
    assert (len(heard), done.state.revision) == (2, 1)
