"""A run is made again from what was asked: moved, edited, without checkpoints, with answers."""

import json
import shutil
import uuid
from pathlib import Path

import pytest

from agents.composer import composer_roles
from agents.protocols import Choices
from graph.new.context import RunContext
from graph.new.requests import Request, begin_again, by_form, read_form, read_request, write_request
from graph.new.results import RunResult, final_text
from graph.run.checkpoints import BrokenCheckpointsError
from graph.run.folder import RunFolder, RunFolderError, create_folder
from tests.graph.conftest import Entries, MakeContext
from tests.graph.running import resume_run, start_run
from tests.graph.settings import SMALL

ASKED = "goofspiel for two players with three cards"
# A trace holds times; the checkpoints hold ids that are new in every process.
TIMED = ("trace.jsonl", ".state/checkpoints.sqlite")


def content(folder: RunFolder) -> dict[str, bytes]:
    files = (path for path in folder.path.rglob("*") if path.is_file())
    named = {str(path.relative_to(folder.path)): path for path in files}
    return {name: path.read_bytes() for name, path in named.items() if name not in TIMED}


@pytest.fixture
def context(make_context: MakeContext) -> RunContext:
    return make_context(composer_roles())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made") / "run"


@pytest.fixture
def finished(made: Path, context: RunContext, tmp_path: Path) -> RunFolder:
    """A copy of one finished run, which lies elsewhere than it was made."""
    if not made.exists():
        start_run(ASKED, create_folder(made, title="", runs=made.parent), context)
    return RunFolder(shutil.copytree(made, tmp_path / "copy"))


def again(folder: RunFolder, context: RunContext) -> RunResult:
    result = resume_run(folder, context)
    assert result.state.end == "made", result.state.reason
    return result


def test_a_copied_run_goes_on_to_the_same_bytes(
    finished: RunFolder, context: RunContext, entries: Entries
) -> None:
    before = content(finished)
    entries.clear()  # its matches are really played again
    again(finished, context)
    assert content(finished) == before


def test_a_moved_run_keeps_its_thread(finished: RunFolder, context: RunContext) -> None:
    assert uuid.UUID(finished.thread).version == 4
    for journal in finished.journals.iterdir():
        journal.write_text("no journal")  # nothing is played again, so nothing is read
    result = again(finished, context)
    assert result.state.folder == str(finished.path)


def test_edits_in_a_copied_run_stay_and_are_told(finished: RunFolder, context: RunContext) -> None:
    for name in ("rulebook.md", "game.py", "report.html", "records/random.jsonl"):
        (finished.path / name).write_text("mine")
    result = again(finished, context)
    assert finished.edited() == ("game.py", "records/random.jsonl", "report.html", "rulebook.md")
    for name in finished.edited():
        assert (finished.path / name).read_text() == "mine"
        assert name in final_text(result.state)


def test_given_up_edits_are_overwritten_with_the_same_bytes(
    finished: RunFolder, context: RunContext
) -> None:
    before = content(finished)
    (finished.path / "rulebook.md").write_text("mine")
    (finished.path / "game.py").unlink()
    begin_again(finished, None, edits=True)
    again(finished, context)
    assert content(finished) == before


@pytest.mark.parametrize("damage", ["not a database", "flipped bytes", "undecodable", "cut"])
def test_broken_checkpoints_say_what_to_do(
    finished: RunFolder, context: RunContext, damage: str
) -> None:
    spoil(finished.checkpoints, damage)
    with pytest.raises(BrokenCheckpointsError, match=r"rulewright resume .* --discard-checkpoints"):
        resume_run(finished, context)


def test_without_its_checkpoints_a_run_is_made_again_with_the_same_bytes(
    finished: RunFolder, context: RunContext
) -> None:
    before = content(finished)
    finished.checkpoints.write_text("broken")
    begin_again(finished, None)
    again(finished, context)
    assert content(finished) == before


def spoil(path: Path, damage: str) -> None:
    import sqlite3

    data = bytearray(path.read_bytes())
    if damage == "not a database":
        path.write_bytes(b"not a database, but text" * 100)
    elif damage == "flipped bytes":
        data[4096 : len(data) : 7] = bytes(len(range(4096, len(data), 7)))
        path.write_bytes(data)
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2 + 100])
    else:
        with sqlite3.connect(path) as connection:
            connection.execute(
                "UPDATE checkpoints SET checkpoint = x'ff00ff'",
            )
        connection.close()


def test_the_form_is_what_the_game_was_made_with(finished: RunFolder) -> None:
    design = json.loads((finished.path / "design.json").read_text())
    assert read_form(finished) == Choices(
        family="goofspiel", num_players=design["num_players"], settings=design["parameters"]
    )


@pytest.mark.whole
def test_an_edited_form_makes_rules_and_game_follow(
    finished: RunFolder, context: RunContext
) -> None:
    edit(finished, "cards: 3", "cards: 5")
    begin_again(finished, None, form=formed(finished))
    result = again(finished, context)
    assert result.state.design is not None
    assert result.state.design.parameters["cards"] == 5
    assert finished.edited() == ()
    remade = content(finished)
    begin_again(finished, None)  # the form is part of what was asked now
    again(finished, context)
    assert content(finished) == remade


def test_another_family_in_the_form_leaves_nothing_of_the_first(
    finished: RunFolder, context: RunContext
) -> None:
    (finished.path / "design.yaml").write_text("family: tic_tac_toe\nnum_players: 2\n")
    begin_again(finished, None, form=formed(finished))
    result = again(finished, context)
    assert result.state.design is not None
    assert result.state.design.family == "tic_tac_toe"
    heuristics = {path.stem for path in (finished.path / "players").glob("*.py")}
    assert heuristics == {heuristic.name for heuristic in result.state.heuristics}


def formed(folder: RunFolder) -> Request:
    return by_form(read_request(folder), read_form(folder), folder)


def edit(folder: RunFolder, old: str, new: str) -> None:
    form = folder.path / "design.yaml"
    assert old in form.read_text()
    form.write_text(form.read_text().replace(old, new))


# Each name holds the one before it twice: a few lines, and more values than any memory.
BOMB = "family: x\nnum_players: 2\nparameters:\n  a0: &a0 {x: 1}\n" + "\n".join(
    f"  a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}" for n in range(1, 40)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no form"),
        ("family: [", "cannot be read"),
        ("- a\n- b", "no form"),
        ("family: x\nnum_players: three", "num_players"),
        ("family: x\nnum_players: 0", "num_players"),
        ("family: x\nnum_players: 2\nseats: 3", "seats"),
        ("family: x\nnum_players: 2\nparameters: {a: .nan}", "cannot be read"),
        ("family: x\nnum_players: 2\nparameters: {a: 2020-01-01}", "parameters"),
        ("family: x\nnum_players: 2\nparameters: {1: 1}", "parameters"),
        ("!!python/object/apply:os.system ['true']", "cannot be read"),
        ("family: \udcff", "cannot be read"),
        ("family: x\nnum_players: 2\nparameters: &p\n  a: *p", "alias"),
        ("family: x\nnum_players: 2\nparameters: &p\n  <<: *p", "alias"),
        (BOMB, "alias"),
        ("family: x\nnum_players: " + "1:" * 5_000 + "1", "cannot be read"),
    ],
)
def test_what_is_no_form_is_refused_with_what_is_required(
    folder: RunFolder, text: str, said: str
) -> None:
    (folder.path / "design.yaml").write_text(text, errors="surrogateescape")
    with pytest.raises(RunFolderError, match=said) as refused:
        read_form(folder)
    assert "Required: family, num_players" in str(refused.value)


def test_answers_are_kept_and_given_again_without_checkpoints(
    make_context: MakeContext, folder: RunFolder
) -> None:
    settings = SMALL.model_copy(update={"approve": True})
    context = make_context(composer_roles(), settings)
    write_request(Request(prompt="something nice for the evening", settings=settings), folder)
    answers = iter([ASKED, "make it four cards", "yes"])
    first = resume_run(folder, context, answer=lambda _: next(answers))
    assert first.state.end == "made", first.state.reason
    before = content(folder)
    begin_again(folder, None)
    again(folder, context)
    assert content(folder) == before


def test_checks_that_compare_the_librarys_code_with_itself_are_counted_apart(
    finished: RunFolder, context: RunContext
) -> None:
    result = again(finished, context)
    found = json.loads((finished.path / "checks.json").read_text())["findings"]
    by_values = [one for one in found if one["check"] in ("unit_test", "record")]
    assert by_values
    assert [one for one in found if one["same_source"]] == by_values
    could = len(found) - len(by_values)
    said = f"{could} of {could} checks that could fail passed; {len(by_values)} compare"
    assert said in final_text(result.state)
