"""A run folder keeps what a person changed in it."""

import errno
import fcntl
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graph.run.folder import RunFolder, RunFolderError, create_folder, find_folder
from tests.processes import PATIENCE_S


@pytest.fixture
def written(folder: RunFolder) -> RunFolder:
    folder.write_text("rulebook.md", "first")
    folder.write_text("players/greedy.py", "pass")
    return folder


def test_a_changed_file_stays_as_it_is_and_is_told(written: RunFolder) -> None:
    (written.path / "rulebook.md").write_text("mine")
    written.write_text("rulebook.md", "second")
    assert (written.path / "rulebook.md").read_text() == "mine"
    assert written.edited() == ("rulebook.md",)


def test_an_unchanged_file_is_written_anew(written: RunFolder) -> None:
    written.write_text("rulebook.md", "second")
    assert (written.path / "rulebook.md").read_text() == "second"
    assert written.edited() == ()


def test_a_change_to_what_the_run_would_write_is_no_change(written: RunFolder) -> None:
    (written.path / "rulebook.md").write_text("second")
    written.write_text("rulebook.md", "second")
    assert written.edited() == ()


def test_a_removed_file_is_written_again(written: RunFolder) -> None:
    (written.path / "rulebook.md").unlink()
    assert written.edited() == ()
    assert written.write_text("rulebook.md", "first").read_text() == "first"


def test_a_file_that_the_run_never_wrote_is_a_persons(folder: RunFolder) -> None:
    (folder.path / "game.py").write_text("mine")
    folder.write_text("game.py", "the run's")
    assert (folder.path / "game.py").read_text() == "mine"
    assert folder.edited() == ("game.py",)


@pytest.mark.parametrize("stop", ["before the file", "after the file"])
def test_a_kill_while_writing_makes_nothing_a_persons(
    written: RunFolder, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    def killed(path: Path, target: Path) -> Path:
        if target.name == "rulebook.md":
            if stop == "after the file":
                replace(path, target)
            raise KeyboardInterrupt
        return replace(path, target)

    replace = Path.replace
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            written.write_text("rulebook.md", "second")
    assert written.edited() == ()
    assert written.write_text("rulebook.md", "third").read_text() == "third"


@pytest.mark.parametrize("record", ["", "{", "[]", '{"rulebook.md": 3}', "\udc80"])
def test_without_a_readable_record_nothing_is_lost(written: RunFolder, record: str) -> None:
    kept = written.state / "written.json"
    kept.write_text(record, errors="surrogateescape")
    written.write_text("rulebook.md", "second")
    assert (written.path / "rulebook.md").read_text() == "first"
    assert "rulebook.md" in written.edited()


def test_clearing_keeps_edits_unless_they_are_given_up(written: RunFolder) -> None:
    (written.path / "rulebook.md").write_text("mine")
    written.clear(edits=False, journals=False)
    assert (written.path / "rulebook.md").read_text() == "mine"
    assert not (written.path / "players" / "greedy.py").exists()
    written.clear(edits=True, journals=False)
    assert not (written.path / "rulebook.md").exists()
    assert written.edited() == ()


def test_a_copied_folder_knows_its_edits(written: RunFolder, tmp_path: Path) -> None:
    (written.path / "rulebook.md").write_text("mine")
    moved = RunFolder(written.path.rename(tmp_path / "elsewhere"))
    assert moved.edited() == ("rulebook.md",)
    assert create_folder(tmp_path / "other", title="", runs=tmp_path).edited() == ()


@pytest.mark.parametrize(
    "kind",
    [
        "link to a file",
        "link to a folder",
        "second name",
        "device",
        "pipe",
        "run.json",
        "trace.jsonl",
    ],
)
def test_a_run_that_could_read_or_write_elsewhere_is_refused(
    written: RunFolder, tmp_path: Path, kind: str
) -> None:
    """Such as one from somebody else: a link in it once had a file of mine written over."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept.txt").write_text("kept")
    if kind == "pipe":
        os.mkfifo(written.path / "design.yaml")
    elif kind == "second name":  # what is appended here would be appended there
        (written.path / "trace.jsonl").hardlink_to(mine / "kept.txt")
    elif kind.startswith(("run", "trace")):  # a large one
        with (written.path / kind).open("wb") as file:
            file.truncate(2**27)
    else:
        targets = {"link to a file": mine / "kept.txt", "link to a folder": mine}
        (written.path / ".rulebook.md.partial").symlink_to(targets.get(kind, Path("/dev/zero")))
    with pytest.raises(RunFolderError, match="plain files|more than 64 MiB"):
        find_folder(str(written.path), tmp_path)
    assert (mine / "kept.txt").read_text() == "kept"


def test_a_run_removes_nothing_outside_of_its_folder(written: RunFolder, tmp_path: Path) -> None:
    outside = written.path.parent / "outside.txt"
    outside.write_text("first")
    names = written.path / ".state" / "written.json"
    listed = json.loads(names.read_text())
    listed |= {"../outside.txt": listed["rulebook.md"], str(outside): listed["rulebook.md"]}
    names.write_text(json.dumps(listed))
    written.clear(edits=True, journals=False)
    assert outside.read_text() == "first"
    assert not (written.path / "rulebook.md").exists()


@pytest.mark.parametrize("name", ["a\0b", ".", "players"])
def test_what_is_listed_and_is_no_file_is_passed_over(written: RunFolder, name: str) -> None:
    (written.path / "players").mkdir(exist_ok=True)
    names = written.path / ".state" / "written.json"
    names.write_text(json.dumps(json.loads(names.read_text()) | {name: ["x"]}))
    assert name not in written.edited()
    written.clear(edits=True, journals=False)
    assert (written.path / "players").is_dir()


def test_a_thread_that_is_no_uuid_is_told(written: RunFolder) -> None:
    (written.state / "thread").write_bytes(b"\xff\xfe")
    with pytest.raises(RunFolderError, match="holds no UUID of a thread.*; remove it"):
        _ = written.thread


def test_a_list_of_files_that_is_nested_without_end_counts_as_none(written: RunFolder) -> None:
    (written.path / ".state" / "written.json").write_text("[" * 100_000)
    assert written.edited() == ()


def test_who_only_looks_whether_a_run_is_worked_at_keeps_nobody_from_it(tmp_path: Path) -> None:
    folder = create_folder(tmp_path / "run", title="", runs=tmp_path)
    looking = os.open(folder.state, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert not folder.is_held
    threading.Timer(0.1, os.close, [looking]).start()
    with folder.held():
        assert folder.is_held
        with pytest.raises(RunFolderError, match="another process works at the run"), folder.held():
            pass
    assert not folder.is_held


def test_a_file_in_the_place_of_a_revision_is_told(written: RunFolder) -> None:
    (written.path / "revisions").write_text("mine")
    for make in (written.revision(1).make, lambda: written.branch("1")):
        with pytest.raises(RunFolderError, match=r"revisions/1: Not a directory; move away"):
            make()


def test_a_folder_in_which_nothing_could_be_written_takes_the_same_command_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = create_folder(tmp_path / "run", title="a", runs=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", _no_room)
        with pytest.raises(RunFolderError, match=r"give the same command again$"):
            full.write_text(".state/request.json", "{}")
    again = create_folder(tmp_path / "run", title="a", runs=tmp_path)
    again.write_text(".state/request.json", "{}")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", _no_room)
        with pytest.raises(RunFolderError, match=r"rulewright resume .*run$"):
            again.write_text("rulebook.md", "# Mine")


def _no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_runs_that_begin_at_once_have_a_folder_each(tmp_path: Path) -> None:
    together = threading.Barrier(6, timeout=PATIENCE_S)

    def begin(_: int) -> Path:
        together.wait()
        return create_folder(None, title="whist", runs=tmp_path / "runs").path

    with ThreadPoolExecutor(6) as pool:
        made = [*pool.map(begin, range(60))]
    assert len(set(made)) == 60


@pytest.mark.parametrize("obstacle", [".design.json.partial", "design.json"])
def test_files_of_one_thing_stay_as_they_were_where_one_cannot_be_written(
    folder: RunFolder, obstacle: str
) -> None:
    """The first could be written, and once was: a new rulebook stood beside the old form."""
    folder.write_together({"rulebook.md": "first", "design.yaml": "first"})
    (folder.path / obstacle).mkdir()
    new = dict.fromkeys(("rulebook.md", "design.json", "design.yaml"), "second")
    with pytest.raises(RunFolderError, match="cannot write .*design.json: Is a directory"):
        folder.write_together(new)
    now = {path.name: path.read_text() for path in folder.path.iterdir() if path.is_file()}
    assert now == {"rulebook.md": "first", "design.yaml": "first"}
    (folder.path / obstacle).rmdir()
    folder.write_together(new)
    assert folder.edited() == ()
    assert {(folder.path / name).read_text() for name in new} == {"second"}


def test_a_persons_file_among_files_of_one_thing_stays(written: RunFolder) -> None:
    (written.path / "rulebook.md").write_text("mine")
    written.write_together({"rulebook.md": "second", "players/greedy.py": "second"})
    assert (written.path / "rulebook.md").read_text() == "mine"
    assert (written.path / "players" / "greedy.py").read_text() == "second"
