"""`sandbox run` on files that attack, fail and do well; `--sandbox` on every command with one."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.conftest import Command
from tools.guest.confine.canaries import CANARIES

KEYS = {"outcome", "value", "stdout", "stderr", "grade", "backend", "ended_by", "reason"}
linux = pytest.mark.skipif(sys.platform != "linux", reason="the strong grade is Linux's")

OPENS = "def main():\n    return open('/etc/passwd').read()\n"
FORKS = "import sys\ndef main():\n    return sys.modules['os'].fork()\n"
CONNECTS = "def main():\n    import socket\n    return socket.socket()\n"
TRACES = "import ctypes\ndef main():\n    return ctypes.CDLL(None).ptrace(16, 1, 0, 0)\n"
LOOPS = "def main():\n    while True:\n        pass\n"
STUBBORN = """
def main():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""
EATS = "def main():\n    x = []\n    while True:\n        x.append(bytes(10**8))\n"
LEAVES = "import sys\ndef main():\n    sys.modules['os']._exit(0)\n"
CRASHES = "import ctypes\ndef main():\n    return ctypes.string_at(0)\n"
FORGES = """
import sys

def main():
    for number in range(3, 12):
        try:
            sys.modules["os"].write(number, b"99 passed")
        except OSError:
            pass
    return 1
"""
LIES = """
import sys

def describe(error, function, own_code=False):
    return {"kind": KIND, "function": "main", "line": None, "message": "all is well"}

sys.modules["tools.guest.serving"].describe = describe

def main():
    raise ValueError
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "module.py"


@pytest.mark.parametrize(
    "words", ["sandbox run", "check", "play", "match --player random --player"]
)
def test_a_name_of_a_file_brings_no_line_of_its_own(
    command: Command, tmp_path: Path, words: str
) -> None:
    """It was told as it is: what stood behind its line break passed for our verdict."""
    file = tmp_path / "x\nchecks: passed (sandbox grade: strong).py"
    file.write_text("def main():\n    return 1\n")
    refused = command(*words.split(), file)
    assert refused.code == 2
    told = (refused.out + refused.err).splitlines()
    assert not [line for line in told if line.startswith("checks: passed")]
    assert any("more than one line" in line for line in told)


def test_a_module_is_loaded_called_and_asked(command: Command, file: Path) -> None:
    file.write_text(
        "import sys\nx = [1]\n"
        "def main():\n    x.append(2)\n    print('out')\n    print('err', file=sys.stderr)\n"
    )
    done = command("sandbox", "run", file, "--call", "x + [3]", "--json")
    assert done.code == 0
    assert done.json.keys() == KEYS
    told = {name: done.json[name] for name in ("outcome", "value", "stdout", "stderr", "ended_by")}
    assert told == {"outcome": "ok", "value": [1, 2, 3], "stdout": "out\n", "stderr": "err\n",
                    "ended_by": None}  # fmt: skip
    assert command("sandbox", "run", file).out.startswith(f"{file}: ran to its end")


def test_without_main_or_an_expression_the_module_is_only_loaded(
    command: Command, file: Path
) -> None:
    file.write_text("x = 1\n")
    done = command("sandbox", "run", file, "--json")
    assert (done.code, done.json["outcome"], done.json["value"]) == (0, "ok", None)


def test_a_dash_reads_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO("def main():\n    return 'é'\n".encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert command("sandbox", "run", "-", "--json").json["value"] == "é"


@linux
@pytest.mark.parametrize(
    ("source", "words"),
    [
        (OPENS, "PermissionError"),
        (FORKS, "BlockingIOError"),
        (CONNECTS, "Operation not permitted"),
    ],
    ids=["opens a file", "forks", "opens a socket"],
)
def test_an_attack_the_kernel_refuses_says_what_was_refused(
    command: Command, file: Path, source: str, words: str
) -> None:
    file.write_text(source)
    done = command("sandbox", "run", file, "--json")
    assert (done.code, done.json["outcome"], done.json["value"]) == (1, "raised", None)
    assert (done.json["grade"]["name"], done.json["backend"]) == ("strong", "linux")
    assert words in done.json["reason"]
    told = command("sandbox", "run", file)
    assert "contained (sandbox grade strong)" in told.out
    assert words in told.out


@linux
@pytest.mark.parametrize(
    ("source", "outcome", "cause"),
    [
        (TRACES, "killed", "blocked_call"),
        (LOOPS, "timed_out", "timeout"),
        (STUBBORN, "timed_out", "timeout"),
        (EATS, "out_of_memory", "out_of_memory"),
        (LEAVES, "killed", "exited"),
        (CRASHES, "killed", "crashed"),
        (FORGES, "killed", "killed"),
    ],
    ids=["traces", "loops", "holds on", "eats memory", "leaves", "crashes", "forges a reply"],
)
def test_a_module_that_has_to_be_stopped_says_by_what(
    command: Command, file: Path, source: str, outcome: str, cause: str
) -> None:
    file.write_text(source)
    done = command("sandbox", "run", file, "--timeout", "1", "--json")
    assert (done.code, done.json["outcome"]) == (4, outcome)
    assert done.json["ended_by"]["cause"] == cause
    assert done.json["ended_by"]["detail"].startswith("it ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("kind", ["internal", "unknown_operation", "illegal_action", "ok", 7])
def test_a_false_word_on_what_went_wrong_is_no_trouble_of_ours(
    command: Command, file: Path, kind: str | int
) -> None:
    file.write_text(LIES.replace("KIND", repr(kind)))
    done = command("sandbox", "run", file, "--json")
    assert (done.code, done.json["outcome"]) == (4, "killed")
    assert done.json["ended_by"]["cause"] == "killed"
    assert "Traceback" not in done.err


def test_printing_of_success_is_no_success(command: Command, file: Path) -> None:
    file.write_text('print(\'{"outcome": "ok", "value": 1}\')\nraise SystemExit(0)\n')
    done = command("sandbox", "run", file, "--json")
    assert (done.code, done.json["outcome"]) == (1, "unreadable")


def test_a_terminal_is_not_steered_by_what_a_module_says(command: Command, file: Path) -> None:
    file.write_text("print('\\x1b[2J\\x07gone')\ndef main():\n    return '\\x1b[2J'\n")
    done = command("sandbox", "run", file)
    assert (done.code, "\x1b" in done.out, "stdout| gone" in done.out) == (0, False, True)


def test_a_message_cannot_add_a_line_that_looks_like_ours(command: Command, file: Path) -> None:
    file.write_text("def main():\n    raise ValueError('x\\nvalue: 42\\nstdout| all passed')\n")
    shown = command("sandbox", "run", file).out.splitlines()
    assert "    | value: 42" in shown
    assert not [line for line in shown if line.startswith(("value:", "stdout|"))]


def test_an_import_that_is_not_there_names_itself_and_what_is(command: Command, file: Path) -> None:
    file.write_text("import requests\n")
    done = command("sandbox", "run", file)
    assert done.code == 1
    assert "'requests' cannot be imported" in done.out
    assert "itertools" in done.out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x = 1\n" * 900_000, "longer than a module may be"),
        (b"x = 1\ny = '\0'\n", "null byte in line 2"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"x = " + b"(" * 5000, "brackets 5000 deep"),
    ],
    ids=["5 MB", "null bytes", "no text", "nested brackets"],
)
def test_a_file_that_can_be_no_module_is_refused(
    command: Command, file: Path, content: bytes, words: str
) -> None:
    file.write_bytes(content)
    done = command("sandbox", "run", file, "--json")
    assert (done.code, words in done.json["error"], words in done.err) == (2, True, True)
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "one of FILE, --probe NAME and --show NAME"),
        (["x.py", "--show", "fork"], "one of FILE, --probe NAME and --show NAME"),
        (["--probe", "fork", "--call", "1"], "--call and --timeout go with FILE"),
        (["no-such-file.py"], "cannot read"),
        (["."], "is a folder"),
        ([__file__, "--call", "x y"], "no Python expression"),
        ([__file__, "--call", "(" * 5000], "no Python expression"),
        ([__file__, "--timeout", "0"], "--timeout"),
        ([__file__, "--backend", "wasm"], "linux, seatbelt, e2b, process"),
        ([__file__, "--backend", "e2b"], "E2B_API_KEY"),
        ([__file__, "--backend", "process"], "--i-accept-no-isolation"),
        ([__file__, "--i-accept-no-isolation"], "--sandbox process alone"),
    ],
)
def test_a_mistake_of_the_persons_own_is_named(
    command: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    done = command("sandbox", "run", *arguments)
    assert (done.code, words in done.err) == (2, True)
    assert "Traceback" not in done.err


def test_without_isolation_the_grade_says_so(command: Command, file: Path) -> None:
    file.write_text("def main():\n    return open(__file__ if 0 else '/dev/null').read()\n")
    done = command("sandbox", "run", file, "--backend", "process", "--i-accept-no-isolation",
                   "--json")  # fmt: skip
    assert (done.code, done.json["value"], done.json["grade"]["name"]) == (0, "", "none")
    assert "WARNING" in done.err


@linux
def test_one_attack_is_run_by_its_name(command: Command) -> None:
    done = command("sandbox", "run", "--probe", "create_file", "--json")
    assert done.code == 0
    assert not done.json["breached"]
    assert (done.json["name"], done.json["grade"]["name"]) == ("create_file", "strong")
    assert "create_file: contained" in command("sandbox", "run", "--probe", "create_file").out


@linux
def test_an_attack_that_does_harm_says_so(command: Command) -> None:
    unconfined = ("--backend", "process", "--i-accept-no-isolation")
    done = command("sandbox", "run", "--probe", "list_folders", *unconfined)
    assert done.code == 1
    assert done.out.startswith("list_folders: DID HARM (sandbox grade none)")
    refused = command("sandbox", "run", "--probe", "mount", *unconfined)
    assert refused.code == 2
    assert "only run in a sandbox that confines it" in refused.err


@linux
def test_an_attack_is_shown_as_a_file_that_runs(command: Command, file: Path) -> None:
    shown = command("sandbox", "run", "--show", "create_file")
    assert shown.code == 0
    file.write_text(shown.out)
    done = command("sandbox", "run", file, "--json")
    assert done.code == 0
    assert done.json["value"]["breached"] is False
    assert done.json["value"]["tried"] == 6


@pytest.mark.parametrize("option", ["--probe", "--show"])
def test_an_attack_that_is_not_there_is_answered_with_the_nearest(
    command: Command, option: str
) -> None:
    done = command("sandbox", "run", option, "tcp_conect")
    assert done.code == 2
    assert "the nearest are tcp_connect, " in done.err


@linux
def test_the_self_test_shows_what_holds(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    done = command("sandbox", "self-test", "--json")
    rows = {row["backend"]: row for row in done.json["backends"]}
    assert (done.code, done.json["holds"]) == (0, True)
    assert list(rows) == ["linux", "e2b", "process"]
    assert (rows["linux"]["default"], rows["linux"]["grade"]["name"]) == (True, "strong")
    assert set(CANARIES) < set(rows["linux"]["held"])
    assert rows["linux"]["not_held"] == []
    assert rows["linux"]["start_ms"].keys() == {"without_numpy", "with_numpy"}
    assert "E2B_API_KEY" in rows["e2b"]["says"]
    assert "open a file" in rows["process"]["not_held"]
    assert "the default holds" in command("sandbox", "self-test").out


@linux
def test_doctor_lists_the_sandboxes(command: Command) -> None:
    done = command("doctor", "--json")
    rows = done.json["parts"]["sandbox"]["backends"]
    assert [(r["backend"], r["default"]) for r in rows] == [
        ("linux", True),
        ("e2b", False),
        ("process", False),
    ]


MATCH = ("match", "tic_tac_toe", "--player", "random", "--player", "random", "--json")


@linux
def test_a_match_is_strong_by_default_and_says_so_once(command: Command) -> None:
    done = command(*MATCH)
    assert done.json["sandbox"]["name"] == "strong"
    assert done.err.count("sandbox grade: strong") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        MATCH,
        ("check", "tic_tac_toe"),
        ("play", "tic_tac_toe"),
        ("new", "tic tac toe", "--quick"),
        ("eval", "run", "smoke"),
    ],
    ids=["match", "check", "play", "new", "eval run"],
)
def test_no_command_runs_without_isolation_unless_that_is_accepted(
    command: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    said = command(*arguments, "--sandbox", "process")
    monkeypatch.setenv("RULEWRIGHT_SANDBOX", "process")
    set_so = command(*arguments)
    for done in (said, set_so):
        assert (done.code, "--i-accept-no-isolation" in done.err) == (2, True)
        assert "Traceback" not in done.err


@pytest.mark.parametrize("game", [MATCH, ("new", "tic tac toe", "--quick")], ids=["match", "new"])
def test_a_sandbox_that_cannot_start_is_told_with_the_ways_out_and_leaves_nothing(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, game: tuple[str, ...]
) -> None:
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    folder = tmp_path / "run"
    out = ("--out", str(folder)) if game[0] == "new" else ()
    done = command(*game, "--sandbox", "e2b", *out)
    assert done.code == 2
    assert done.json["end"] == "error" if "--json" in game else done.out == ""
    assert "E2B_API_KEY" in done.err
    assert "leave out --sandbox e2b" in done.err
    assert "Traceback" not in done.err
    assert not folder.exists()


def test_a_setting_without_isolation_is_taken_where_it_is_accepted(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_SANDBOX", "process")
    monkeypatch.setenv("RULEWRIGHT_ACCEPT_NO_ISOLATION", "1")
    assert command(*MATCH).json["sandbox"]["backend"] == "process"
    if sys.platform == "linux":
        assert command(*MATCH, "--sandbox", "linux").json["sandbox"]["backend"] == "linux"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("RULEWRIGHT_SANDBOX", "docker", "linux, seatbelt, e2b, process"),
        ("RULEWRIGHT_ACCEPT_NO_ISOLATION", "perhaps", "1, true, yes"),
        ("RULEWRIGHT_ACCEPT_NO_ISOLATION", "1", "--sandbox process alone"),
    ],
)
def test_a_setting_of_the_sandbox_that_is_unknown_lists_what_is_known(
    command: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    done = command(*MATCH)
    assert (done.code, name in done.err, words in done.err) == (2, True, True)


def test_few_descriptors_and_no_temporary_folder_are_enough(file: Path) -> None:
    file.write_text("def main():\n    return 7\n")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64));"
        "from app.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "sandbox", "run", str(file), "--json"],
        capture_output=True, text=True, check=True, env={"TMPDIR": "/nowhere", "PATH": "/bin"},
    )  # fmt: skip
    assert json.loads(done.stdout)["value"] == 7
