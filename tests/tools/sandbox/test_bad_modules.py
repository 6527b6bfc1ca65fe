import sys
from contextlib import nullcontext

import pytest

from games.contract import Game
from games.engine import play_match
from games.values import FaultKind, ModuleFault
from tests.tools.conftest import LIMITS
from tests.tools.sources import NIM, nim_line, nim_with
from tools.sandbox import Sandbox, SandboxedModule, SandboxTable
from tools.sandbox.backends import Limits

PYTHON = "Python " + ".".join(sys.version.split(".")[:2])
BAD_SOURCES: dict[str, tuple[str, FaultKind, int | None, str]] = {
    "does not parse": ("x = 1\ndef f(:\n", "unreadable", 2, "invalid syntax"),
    "is quoted": ("x = 1\ndef f(:\n", "unreadable", 2, f"{PYTHON} cannot read 'def f.:'"),
    "is not text": ("x = 1\ny = '\ud800'\n", "unreadable", 2, "not text"),
    "holds a null byte": ("x = 1\0", "unreadable", None, "null bytes"),
    "raises at import": ("x = 1\ny = x / 0\n", "unreadable", 2, "ZeroDivisionError"),
    "exits at import": ("import sys\nsys.exit(0)\n", "unreadable", 2, "SystemExit"),
    "interrupts at import": ("\nraise KeyboardInterrupt\n", "unreadable", 2, "KeyboardInterrupt"),
    "imports another package": ("import pydantic\n", "unreadable", 1, "cannot be imported"),
    "loops for ever at import": ("x = 0\nwhile True:\n    x += 1\n", "timed_out", None, "0.5 s"),
    "eats memory at import": (
        "x = []\nwhile True:\n    x.append('a' * 10**6)\n",
        "out_of_memory",
        3,
        "memory",
    ),
    "ends the process at import": ("import os\nos._exit(0)\n", "killed", None, "exit code 0"),
}


@pytest.mark.parametrize("name", BAD_SOURCES)
def test_a_source_that_cannot_be_loaded_is_named_with_its_line(sandbox: Sandbox, name: str) -> None:
    source, kind, line, words = BAD_SOURCES[name]
    hasty = Sandbox(
        sandbox.backend, limits=LIMITS.model_copy(update={"load_s": 0.5, "grace_s": 10.0})
    )
    with (
        hasty if kind == "timed_out" else nullcontext(sandbox) as held,
        held.worker("test", source) as worker,
        pytest.raises(ModuleFault, match=words) as caught,
    ):
        worker.load(source)
    assert (caught.value.kind, caught.value.function) == (kind, "module")
    if kind == "timed_out":
        assert caught.value.line in (2, 3)
    else:
        assert caught.value.line == line


BAD_BODIES: dict[str, tuple[str, FaultKind, str]] = {
    "raises": ("x = 1\nraise KeyError('deck')  # here", "raised", "KeyError: 'deck'"),
    "exits": ("raise SystemExit(0)  # here", "raised", "SystemExit"),
    "interrupts": ("raise KeyboardInterrupt  # here", "raised", "KeyboardInterrupt"),
    "recurses for ever": (
        "def deeper(): return deeper()  # here\nreturn deeper()",
        "raised",
        "RecursionError",
    ),
    "raises an error that cannot be shown": (
        "class E(Exception):\n    def __str__(self): return 1\nraise E  # here",
        "raised",
        "E",
    ),
    "loops for ever": ("while True: pass  # here", "timed_out", "within 0.3 s"),
    "loops for ever and silences the alarm": (
        "import signal\nfor number in (signal.SIGALRM, signal.SIGPROF):\n"
        "    signal.signal(number, signal.SIG_IGN)\nwhile True: pass  # here",
        "timed_out",
        "within 0.3 s and was killed",
    ),
    "loops for ever where no line ends": (
        "sum(range(10**13))  # here",
        "timed_out",
        "and was killed",
    ),
    "allocates at once": ("return [0] * 10**10  # here", "out_of_memory", "memory"),
    "allocates bit by bit": (
        "x = []\nwhile True: x.append('a' * 10**5)  # here",
        "out_of_memory",
        "memory",
    ),
    "ends the process": ("import os\nos._exit(0)", "killed", "exit code 0"),
    "hangs up and goes on": (
        "import os\nos.closerange(3, 32)\nwhile True: pass",
        "killed",
        "hung up|exit code 70",
    ),
    "crashes the interpreter": (
        "import ctypes\nctypes.string_at(0)  # here",
        "killed",
        "SIGSEGV",
    ),
    "returns a set": ("return {1, 2}", "bad_value", "value is a set; required"),
    "returns a tuple inside": ("return {'a': [1, (2,)]}", "bad_value", r"value\['a'\]\[1\]"),
    "returns int keys": ("return {1: 2}", "bad_value", "required: string keys"),
    "returns NaN": ("return [float('nan')]", "bad_value", "finite"),
    "returns infinity": ("return 1e999", "bad_value", "finite"),
    "returns a numpy scalar": ("import numpy\nreturn numpy.int64(1)", "bad_value", "int64"),
    "returns bytes": ("return b'a'", "bad_value", "bytes"),
    "returns an object": ("return object()", "bad_value", "object"),
    "returns a list that holds itself": ("x = []\nx.append(x)\nreturn x", "bad_value", "itself"),
    "returns half a surrogate pair": ("return '\\ud800'", "bad_value", "written as JSON"),
    "returns an integer of 5,000 digits": ("return 10**5000", "bad_value", "written as JSON"),
    "returns more than a reply may hold": ("return 'a' * (9 << 20)", "bad_value", "at most"),
    "writes past the captured output": ("import os\nos.write(1, b'x')  # here", "raised", "pipe"),
    "reads standard input": ("return input()  # here", "raised", "EOFError"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_function_that_misbehaves_is_named_with_its_line(sandbox: Sandbox, name: str) -> None:
    body, kind, words = BAD_BODIES[name]
    source = nim_with("get_rewards", body)
    with sandbox.worker("test", source) as worker:
        worker.load(source)
        deadline_s = 0.3 if kind == "timed_out" or "goes on" in name else None
        with pytest.raises(ModuleFault, match=words) as caught:
            worker.call("get_rewards", [0], deadline_s=deadline_s)
    assert (caught.value.kind, caught.value.function) == (kind, "get_rewards")
    if "# here" in body:
        assert caught.value.line == nim_line("# here", source)
    elif kind == "bad_value" and words != "written as JSON":
        assert caught.value.line in (nim_line("def get_rewards(*", source), None)


def test_a_bad_value_is_placed_at_the_definition_of_its_function(sandbox: Sandbox) -> None:
    source = nim_with("get_rewards", "return {1, 2}")
    with sandbox.worker("test", source) as worker:
        worker.load(source)
        with pytest.raises(ModuleFault) as caught:
            worker.call("get_rewards", [0])
    assert caught.value.line == nim_line("def get_rewards(*", source)


def test_a_missing_function_is_named(sandbox: Sandbox) -> None:
    source = NIM.replace("def get_rewards", "def get_reward")
    with sandbox.worker("test", source) as worker:
        worker.load(source)
        assert "get_rewards" not in worker.names
        with pytest.raises(ModuleFault, match="must define get_rewards") as caught:
            Game(SandboxedModule(worker)).rewards({"won": -1}, 2)
    assert caught.value.kind == "missing"


def test_a_gigabyte_of_print_is_cut_and_the_call_still_answers(sandbox: Sandbox) -> None:
    body = "for _ in range(16_000): print('x' * 65_535)\nreturn 1"
    with sandbox.worker("test") as worker:
        worker.load(nim_with("get_rewards", body))
        assert worker.call("get_rewards", [0], deadline_s=20) == 1
        cap = sandbox.limits.output_characters
        assert cap <= len(worker.output) <= cap + 100
        assert worker.output.endswith("dropped]\n")


def test_a_gigabyte_printed_at_once_is_out_of_memory(sandbox: Sandbox) -> None:
    with sandbox.worker("test") as worker:
        worker.load(nim_with("get_rewards", "print('x' * 10**9)  # here"))
        with pytest.raises(ModuleFault) as caught:
            worker.call("get_rewards", [0])
    assert caught.value.kind == "out_of_memory"


def test_a_gigabyte_printed_for_ever_ends_at_the_deadline(sandbox: Sandbox) -> None:
    with sandbox.worker("test") as worker:
        worker.load(nim_with("get_rewards", "while True: print('x' * 1000)"))
        with pytest.raises(ModuleFault) as caught:
            worker.call("get_rewards", [0], deadline_s=0.3)
        assert caught.value.kind == "timed_out"
        assert len(worker.output) <= sandbox.limits.output_characters + 100


def test_the_fault_of_a_match_names_function_and_line_of_the_ply_that_failed(
    sandbox: Sandbox,
) -> None:
    source = nim_with("get_observations", "raise KeyError('hand')  # here")
    with sandbox.worker("referee") as worker:
        worker.load(source)
        match = play_match(SandboxTable(worker), [], parameters={}, seed=1)
    assert (match.ending, match.returns) == ("fault", None)
    with sandbox.worker("referee") as worker:
        worker.load(source)
        with pytest.raises(ModuleFault) as caught:
            SandboxTable(worker).open(2, {})
    assert caught.value.function == "get_observations"
    assert caught.value.line == nim_line("# here", source)


def test_after_an_interrupted_call_the_worker_still_answers(sandbox: Sandbox) -> None:
    with sandbox.worker("test") as worker:
        worker.load(nim_with("get_rewards", "while True: pass"))
        with pytest.raises(ModuleFault, match="timed_out"):
            worker.call("get_rewards", [0], deadline_s=0.2)
        assert worker.call("get_player_name", [0]) == "Player 1"


def test_an_unknown_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        Limits.model_validate({"memory": 1})
