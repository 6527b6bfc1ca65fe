"""The journal's file: whose it is, what may be changed in it, and who holds it."""

import json
import os
import subprocess
import sys
from io import FileIO
from pathlib import Path

import pytest

from games.values import Json
from tests.processes import PATIENCE_S
from tools.playtest.journal import Journal, JournalError

WORK: dict[str, Json] = {"work": "counting", "seed": 3}

HOLDER = """
import sys
from pathlib import Path
from tools.playtest.journal import Journal, JournalError

path = Path(sys.argv[1])
try:
    with Journal(path, {"work": "counting", "seed": 3}) as book:
        book.append(int(sys.argv[2]), "of another process")
    print("took it")
except JournalError as error:
    print(error)
"""


def begun(path: Path, count: int = 3) -> bytes:
    """A journal with that many entries."""
    with Journal(path, WORK) as book:
        for index in range(count):
            book.append(index, {"square": index * index})
    return path.read_bytes()


def entries(path: Path) -> dict[int, object]:
    with Journal(path, WORK) as book:
        return {**book.entries}


def another_process(path: Path, index: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HOLDER, str(path), str(index)],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize(
    "content",
    [
        b"my precious notes, one line without a newline",
        b'{"identity":{"seed":4',  # a heading of other work that was cut off
        b"\n",
        b"\n\n",
        b"notes\nof two lines\n",
        b'{"a":1}\n{"b":2}\n{"c":',
        b'{"a":1}\r\n{"b":2}\r\n',
        b"[" * 200_000 + b"\n",
        b"[" * 200_000,
        b"\xff\xfe\x00\n",
        b'{"journal":"2","identity":{}}\n',
        b'{"journal":1}\n',
        b'[1,"journal"]\nmore',
        b"\x00" * 5000,
        b"9" * 5000 + b"\n",
    ],
)
def test_no_byte_of_a_foreign_file_is_changed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(JournalError, match="no journal of this version.*name another file"):
        Journal(path, WORK)
    assert path.read_bytes() == content


@pytest.mark.parametrize("version", [2, 3, 5])
def test_a_journal_of_another_version_is_refused_by_its_number(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "journal.jsonl"
    content = begun(path).replace(b'"journal":4', b'"journal":%d' % version, 1)
    path.write_bytes(content)
    with pytest.raises(JournalError, match=f"of version {version}, and this program writes ver"):
        Journal(path, WORK)
    assert path.read_bytes() == content


def test_a_heading_cut_anywhere_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    heading = begun(path, 0)
    for length in range(len(heading)):
        path.write_bytes(heading[:length])
        assert entries(path) == {}
        assert path.read_bytes() == heading


def test_only_the_half_line_below_our_heading_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    data = begun(path)
    path.write_bytes(data[:-1])
    assert entries(path) == {0: {"square": 0}, 1: {"square": 1}}
    assert path.read_bytes() == b"".join(data.splitlines(keepends=True)[:3])
    other = data[:-1]
    path.write_bytes(other)
    with pytest.raises(JournalError, match="seed: 3 there, 4 here"):
        Journal(path, {**WORK, "seed": 4})
    assert path.read_bytes() == other


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[" * 200_000,
        b'{"index":1,"crc":0,"entry":' + b"[" * 200_000 + b"}",
        b"\xff\xfe",
        b'{"index":1,"crc":0,"entry":"\xed\xa0\x80"}',  # a lone surrogate
        b"\x00" * 100,
        b"null",
        b'{"index":1,"crc":5}',
        b'{"index":1,"crc":5,"entry":{"square":1}}',
        b'{"index":-1,"crc":524074268,"entry":{"square":1}}',
        b"9" * 5000,
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_nothing_is_cut(
    tmp_path: Path, line: bytes
) -> None:
    path = tmp_path / "journal.jsonl"
    lines = begun(path).splitlines()
    damaged = b"\n".join([*lines[:2], line, lines[3], lines[3][:9]])
    path.write_bytes(damaged)
    with pytest.raises(JournalError, match="damaged in line 3; delete that line"):
        Journal(path, WORK)
    assert path.read_bytes() == damaged
    path.write_bytes(b"\n".join([*lines[:2], lines[3], lines[3][:9]]))
    assert entries(path) == {0: {"square": 0}, 2: {"square": 4}}


def test_a_damaged_heading_can_be_mended_as_its_message_says(tmp_path: Path) -> None:
    path, fresh = tmp_path / "journal.jsonl", tmp_path / "fresh.jsonl"
    data = begun(path)
    for first in (b"x" + data.split(b"\n")[0], b"", b"[" * 200_000, b'{"journal":1}', b"\xff"):
        damaged = first + data[data.index(b"\n") :]
        path.write_bytes(damaged)
        with pytest.raises(JournalError, match="put that file's line 1 in the place of this one"):
            Journal(path, WORK)
        assert path.read_bytes() == damaged
    lines = damaged.splitlines(keepends=True)
    path.write_bytes(begun(fresh, 0) + b"".join(lines[1:]))
    assert entries(path) == {index: {"square": index * index} for index in range(3)}


def test_a_match_before_the_first_is_damage(tmp_path: Path) -> None:
    """A plan has matches from 0 on; what came before could be played and chosen at will."""
    begun(tmp_path / "j")
    with Journal(tmp_path / "j", WORK) as book:
        book.append(-1, {"square": 1})
    with pytest.raises(JournalError, match="damaged in line 5"):
        entries(tmp_path / "j")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/full"), Path("/dev/null"), Path()):
        with pytest.raises(JournalError, match="a folder, a pipe or a device"):
            Journal(path, WORK)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(JournalError, match="cannot write"):
        Journal(loop, WORK)


def test_a_link_leads_to_the_journal_and_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "folder" / "journal.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(target)
    with Journal(link, WORK) as book:
        book.append(1, "later")
        book.append(0, "sooner")
        book.settle({0: "sooner", 1: "later"})
    assert link.is_symlink()
    assert [json.loads(line).get("index") for line in target.read_text().splitlines()] == [
        None,
        0,
        1,
    ]
    assert sorted(path.name for path in target.parent.iterdir()) == ["journal.jsonl"]


def test_settling_keeps_the_lock_the_mode_and_what_is_appended_after(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path, WORK) as book:
        path.chmod(0o600)
        book.append(1, "later")
        book.append(0, "sooner")
        book.settle({0: "sooner", 1: "later"})
        assert path.stat().st_mode & 0o777 == 0o600
        assert "another process is writing" in another_process(path, 9)
        book.append(2, "after it")
        book.settle({0: "sooner", 1: "later", 2: "after it"})
        assert "another process is writing" in another_process(path, 9)
    assert entries(path) == {0: "sooner", 1: "later", 2: "after it"}
    assert another_process(path, 9) == "took it\n"
    assert entries(path)[9] == "of another process"


def test_what_stands_in_the_way_of_settling_is_not_written_through(tmp_path: Path) -> None:
    path, precious = tmp_path / "journal.jsonl", tmp_path / "precious"
    precious.write_text("notes")
    (tmp_path / "journal.jsonl.part").symlink_to(precious)
    with Journal(path, WORK) as book:
        book.append(1, "only")
        book.settle({})
    assert precious.read_text() == "notes"
    assert entries(path) == {}


def test_who_opened_the_file_before_it_was_replaced_holds_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first = Journal(path, WORK)
    first.append(1, "of the first")

    class Later(Journal):
        """Has opened the file, and does not hold it yet, when the first replaces and leaves it."""

        def _take(self, file: FileIO) -> None:
            first.append(0, "of the first")
            first.settle({0: "of the first", 1: "of the first"})
            first.close()
            self._take = super()._take  # type: ignore[method-assign]
            super()._take(file)

    with Later(path, WORK) as later:
        assert later.entries == {0: "of the first", 1: "of the first"}
        later.append(2, "of the second")
    assert entries(path) == {0: "of the first", 1: "of the first", 2: "of the second"}


TAKERS = """
import sys, time
from pathlib import Path
from tools.playtest.journal import Journal, JournalError

path, who = Path(sys.argv[1]), int(sys.argv[2])
print("up", flush=True)
sys.stdin.readline()
for number in range(20):
    while True:
        try:
            book = Journal(path, {"work": "counting", "seed": 3})
            break
        except JournalError as error:
            assert "another process" in str(error) or "replaced" in str(error), error
    with book:
        index = number * 3 + who
        book.append(index, who)
        known = {**book.entries, index: who}
        book.settle(dict(sorted(known.items(), reverse=bool(number % 2))))
"""


def test_no_entry_is_lost_between_processes_that_take_turns_and_settle(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    takers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKERS, str(path), str(who)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for who in range(3)
    ]  # fmt: skip
    try:
        for taker in takers:
            assert taker.stdout is not None
            assert taker.stdout.readline() == "up\n"
        for taker in takers:
            taker.communicate("go\n", timeout=PATIENCE_S)
    finally:
        for taker in takers:
            taker.kill()
            taker.wait()
    assert [taker.returncode for taker in takers] == [0, 0, 0]
    assert entries(path) == {index: index % 3 for index in range(60)}


def test_only_the_setting_that_differs_is_told(tmp_path: Path) -> None:
    work: dict[str, Json] = {"players": [{"player": "a"}, {"player": "b", "settings": {"n": 200}}]}
    other: dict[str, Json] = {"players": [{"player": "a"}, {"player": "b", "settings": {"n": 201}}]}
    Journal(tmp_path / "j", work).close()
    with pytest.raises(JournalError, match=r"work \(players 2 settings n: 200 there, 201 here\)"):
        Journal(tmp_path / "j", other)
