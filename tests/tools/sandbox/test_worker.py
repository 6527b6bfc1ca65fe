import signal
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from games.text import plain_text
from games.values import IllegalActionError, Json, ModuleFault
from tests.tools.sources import NIM
from tools.sandbox import (
    Limits,
    OperationError,
    Sandbox,
    SandboxedModule,
    SandboxUnavailableError,
    Worker,
)
from tools.sandbox.worker import raise_fault


def loaded(sandbox: Sandbox, source: str) -> Worker:
    worker = sandbox.worker("test", source)
    worker.load(source)
    return worker


def busy(seconds: float) -> str:
    return (
        "import time\ndef f():\n    until = time.process_time() + "
        f"{seconds}\n    while time.process_time() < until: pass\n    return 1"
    )


def test_a_function_answers_with_plain_values(sandbox: Sandbox) -> None:
    with loaded(sandbox, "def f(a, b=2):\n    return [a, b, None, True, 0.5, 'é', {'k': []}]") as w:
        assert w.call("f", [1], {"b": 3}) == [1, 3, None, True, 0.5, "é", {"k": []}]


def test_the_module_protocol_holds_over_a_worker(sandbox: Sandbox) -> None:
    with loaded(sandbox, NIM) as worker:
        module = SandboxedModule(worker)
        assert {"GAME", "ZONES", "apply_action", "get_chance_probabilities"} <= module.names
        assert "resample_state" not in module.names
        game = module.constant("GAME")
        assert isinstance(game, dict)
        assert game["name"] == "nim"
        state = module.call("initial_state", 2, most=1)
        assert state == {"pile": 0, "turn": -1, "most": 1, "won": -1}
        with pytest.raises(IllegalActionError, match="not legal"):
            module.call("apply_action", state, "take 9")
        with pytest.raises(ModuleFault, match="must define HANDS"):
            module.constant("HANDS")


def test_an_echo_shows_arguments_as_the_function_left_them(sandbox: Sandbox) -> None:
    with loaded(sandbox, "def f(state):\n    state['a'].append(2)\n    return 1") as worker:
        assert SandboxedModule(worker).call_echo("f", [{"a": [1]}]) == (1, [{"a": [1, 2]}])


def test_an_echo_refuses_arguments_that_were_made_unwritable(sandbox: Sandbox) -> None:
    with (
        loaded(sandbox, "def f(state):\n    state['a'] = {1}\n    return 1") as worker,
        pytest.raises(ModuleFault, match="set"),
    ):
        worker.call_echo("f", [{"a": [1]}])


def test_inference_calls_depend_on_their_seed_alone(sandbox: Sandbox) -> None:
    source = (
        "import random, numpy\n"
        "def resample_state(history, player):\n"
        "    return {'a': random.random(), 'b': float(numpy.random.random())}\n"
    )
    with loaded(sandbox, source) as first, loaded(sandbox, source) as second:
        draws = [first.call("resample_state", [[], 0], seed=[3, n]) for n in (1, 2)]
        again = second.call("resample_state", [[], 0], seed=[3, 2])
    assert draws[0] != draws[1]
    assert draws[1] == again


def test_two_workers_share_nothing(sandbox: Sandbox) -> None:
    source = "count = []\ndef f():\n    count.append(1)\n    return len(count)"
    with loaded(sandbox, source) as first, loaded(sandbox, source) as second:
        assert [first.call("f"), first.call("f"), second.call("f")] == [1, 2, 1]


# Where it runs, nothing is compiled honestly any more.
POISON = """
import sys
for module in [*sys.modules.values()]:
    if hasattr(module, "marshal"):
        module.marshal = None
def f():
    return 1
"""


def test_a_module_has_no_part_in_the_code_that_later_workers_load(sandbox: Sandbox) -> None:
    for _ in range(2):
        with loaded(sandbox, POISON) as worker:
            assert worker.call("f") == 1
            with pytest.raises(ModuleFault, match="compile before 'load'"):
                worker.request("compile", {"source": "def f():\n    return 2"}, 1)


@pytest.mark.parametrize("size", [1, 2**20])
def test_a_later_worker_loads_the_same_module_however_long_it_is(
    sandbox: Sandbox, size: int
) -> None:
    source = f"TEXT = '{'x' * size}'\ndef f():\n    return len(TEXT)\ndef g():\n    return 1 / 0"
    for _ in range(2):
        with loaded(sandbox, source) as worker:
            assert worker.call("f") == size
            with pytest.raises(ModuleFault, match="ZeroDivisionError") as caught:
                worker.call("g")
            assert caught.value.line == 5


def test_output_is_kept_without_terminal_tricks(sandbox: Sandbox) -> None:
    source = "import sys\nprint('loading')\ndef f():\n    print('\\x1b[31mred', file=sys.stderr)"
    with loaded(sandbox, source) as worker:
        assert worker.call("f") is None
        assert (worker.output, worker.errors) == ("loading\n", "red\n")


def test_text_keeps_cards_and_letters_and_loses_controls() -> None:
    assert plain_text("♥ Zürich\t中\n") == "♥ Zürich\t中\n"
    assert plain_text("a\x00b\x85c\u200ed\u2066e\x7f\r") == "abcde"


def test_a_second_module_is_refused(sandbox: Sandbox) -> None:
    with loaded(sandbox, NIM) as worker, pytest.raises(ValueError, match="another one"):
        worker.load(NIM)


def test_a_call_before_loading_is_our_error(sandbox: Sandbox) -> None:
    with sandbox.worker("test", "") as worker, pytest.raises(OperationError, match="load"):
        worker.call("f")


def test_an_unknown_operation_lists_the_known_ones(sandbox: Sandbox) -> None:
    with (
        loaded(sandbox, NIM) as worker,
        pytest.raises(OperationError, match="advance, plies, round"),
    ):
        worker.request("dance", {}, 1)


def test_a_killed_worker_says_so_and_stays_dead(sandbox: Sandbox) -> None:
    worker = loaded(sandbox, NIM)
    worker.kill()
    worker.kill()
    assert not worker.alive
    with pytest.raises(ModuleFault) as caught:
        worker.call("get_player_name", [0])
    assert caught.value.kind == "killed"


def test_a_worker_can_be_killed_from_another_thread_while_it_works(sandbox: Sandbox) -> None:
    worker = loaded(sandbox, "def f():\n    while True: pass")
    killer = threading.Timer(0.2, worker.kill)
    killer.start()
    with pytest.raises(ModuleFault) as caught:
        worker.call("f", deadline_s=60)
    killer.join()
    assert caught.value.kind == "killed"


def test_an_interrupted_request_does_not_leave_its_answer_to_the_next(sandbox: Sandbox) -> None:
    worker = loaded(sandbox, busy(1))
    # A shell's background job starts with Ctrl-C ignored; this test is about what follows one.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    interrupt.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            worker.call("f")
    finally:
        interrupt.join()
        signal.signal(signal.SIGINT, before)
    assert not worker.alive


def test_two_threads_cannot_mix_their_requests(sandbox: Sandbox) -> None:
    with loaded(sandbox, busy(0.5)) as worker:
        answers: list[object] = []
        thread = threading.Thread(target=lambda: answers.append(worker.call("f")))
        thread.start()
        threading.Event().wait(0.2)
        with pytest.raises(RuntimeError, match="another thread"):
            worker.call("f")
        thread.join()
        assert answers == [1]


FORGED = {
    "a reply to another request": 'b"\\x0e\\0\\0\\0" + b\'{"id":1,"value"\'[:14]',
    "endless length": "b'\\xff' * 64",
    "not JSON": "b'\\x03\\0\\0\\0abc'",
    "an infinite number": "b'\\x05\\0\\0\\0' + b'1e999'",
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_frame_ends_the_worker(sandbox: Sandbox, forgery: str) -> None:
    source = (
        "import os\ndef f():\n    for fd in range(3, 32):\n        try:\n"
        f"            os.write(fd, {FORGED[forgery]})\n"
        "        except OSError:\n            pass\n    return 1\n"
    )
    with loaded(sandbox, source) as worker:
        with pytest.raises(ModuleFault) as caught:
            worker.call("f")
        assert caught.value.kind == "killed"
        assert not worker.alive


def test_bytes_after_a_reply_end_the_worker(sandbox: Sandbox) -> None:
    source = (
        "import sys, struct\n"
        "class Header:\n"
        "    size = 4\n"
        "    unpack_from = staticmethod(lambda data: struct.unpack_from('<I', data))\n"
        "    pack = staticmethod(lambda length: struct.pack('<I', length - 1))\n"
        "def f():\n"
        "    runner = sys.modules['tools.guest.serving']\n"
        "    honest = runner.encode\n"
        "    runner.encode = lambda value: honest(value) + b'x'\n"
        "    sys.modules['tools.guest.framing'].HEADER = Header\n"
        "    return 1\n"
    )
    with loaded(sandbox, source) as worker:
        with pytest.raises(ModuleFault, match="one reply|nobody asked for|no contract JSON"):
            worker.call("f")
        assert not worker.alive


def test_a_fault_with_made_up_fields_is_read_with_distrust() -> None:
    with pytest.raises(ModuleFault) as caught:
        raise_fault({"kind": "passed", "line": True, "message": "\x1b[2Jok"}, "f")
    assert (caught.value.kind, caught.value.line) == ("killed", None)
    assert "\x1b" not in caught.value.message


def test_too_long_a_request_is_refused(sandbox: Sandbox) -> None:
    with loaded(sandbox, "def f(x):\n    return 1") as worker:
        with pytest.raises(ModuleFault, match="required: at most"):
            worker.call("f", ["a" * (17 << 20)])
        assert worker.call("f", ["a" * (15 << 20)]) == 1


def test_a_heuristic_scores_every_position_in_one_message(sandbox: Sandbox) -> None:
    source = "def score(observation, action):\n    return observation['n'] * len(action)"
    payload: dict[str, Json] = {"positions": [[{"n": 2}, ["a", "bb"]], [{"n": 3}, ["a"]]]}
    with loaded(sandbox, source) as worker:
        assert worker.request("scores", payload, 1) == [[2.0, 4.0], [3.0]]
    with (
        loaded(sandbox, "def score(observation, action):\n    return True") as worker,
        pytest.raises(ModuleFault, match="finite number"),
    ):
        worker.request("scores", payload, 1)


def test_keys_of_the_host_do_not_reach_a_module(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    source = (
        "import os, sys, ctypes\n"
        "def f():\n"
        "    block = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')\n"
        "    left = []\n"
        "    while block and block[len(left)]:\n"
        "        left.append(block[len(left)].decode())\n"
        "    return [dict(os.environ), left, sys.argv, sys.path]\n"
    )
    with Sandbox(sandbox.backend) as own, loaded(own, source) as worker:
        assert worker.call("f") == [{}, [], ["worker"], []]


def test_files_cannot_be_written(sandbox: Sandbox) -> None:
    source = "def f(path):\n    with open(path, 'w') as file:\n        file.write('x' * 100)"
    words = "File too large" if sandbox.grade.name == "none" else "PermissionError"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)  # the worker may be another user
        with loaded(sandbox, source) as worker, pytest.raises(ModuleFault, match=words):
            worker.call("f", [f"{folder}/file"])


def test_preloaded_operations_work_on_the_module(sandbox: Sandbox) -> None:
    with (
        Sandbox(sandbox.backend, preload=["tests.tools.sandbox.offered"]) as own,
        own.worker("test", preloaded=True) as worker,
    ):
        worker.load(NIM + "\ndef broken():\n    raise KeyError('x')  # here\n")
        assert worker.request("pile_after", {"action": "pile 4"}, 1) == 4
        with pytest.raises(OperationError, match="no such thing"):
            worker.request("fail", {}, 1)
        with pytest.raises(ModuleFault, match="KeyError") as caught:
            worker.request("run", {"target": "broken"}, 1)
        assert caught.value.kind == "raised"
        assert caught.value.line is not None
        with pytest.raises(ModuleFault, match="bad_value"):
            worker.request("odd", {}, 1)


def test_a_module_cannot_say_which_states_are_the_same(sandbox: Sandbox) -> None:
    source = "def __state_key__(state):\n    return ''\n"
    with pytest.raises(ModuleFault, match="is not a module's to define"), loaded(sandbox, source):
        pass


def test_numpy_is_there_only_where_the_source_imports_it(sandbox: Sandbox) -> None:
    source = "import sys\ndef f():\n    return 'numpy' in sys.modules"
    with loaded(sandbox, source) as without, loaded(sandbox, "import numpy\n" + source) as with_it:
        assert (without.call("f"), with_it.call("f")) == (False, True)


def test_an_import_of_something_else_names_it_and_lists_what_is_allowed(sandbox: Sandbox) -> None:
    with (
        sandbox.worker("test", "") as worker,
        pytest.raises(
            ModuleFault, match="'sqlite3' cannot be imported .* allowed: .*random"
        ) as hit,
    ):
        worker.load("import random\nimport sqlite3\n")
    assert (hit.value.kind, hit.value.line) == ("unreadable", 2)


def test_what_a_module_prints_is_kept_apart_by_stream(sandbox: Sandbox) -> None:
    source = "import sys\ndef f():\n    print('out')\n    print('err', file=sys.stderr)"
    with loaded(sandbox, source) as worker:
        worker.call("f")
        assert (worker.output, worker.errors) == ("out\n", "err\n")


@pytest.mark.parametrize(
    ("preload", "words"),
    [
        (["no_such_package.x"], "no package 'no_such_package'"),
        (["tests.tools.sandbox.absent"], "No module named"),
        (["tests.tools.sandbox.offered", "tests.tools.sandbox.clashing"], "exist already: run"),
    ],
)
def test_a_sandbox_that_cannot_start_says_why(preload: list[str], words: str) -> None:
    with (
        Sandbox(preload=preload) as own,
        pytest.raises(SandboxUnavailableError, match=words),
    ):
        own.worker("test", preloaded=True)


def test_a_missing_interpreter_is_the_sandbox_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with Sandbox() as own, pytest.raises(SandboxUnavailableError, match="cannot start"):
        own.worker("test", "")


def test_a_memory_limit_too_small_to_run_in_is_not_the_game() -> None:
    with Sandbox(limits=Limits(memory_bytes=2**20)) as own:
        with pytest.raises(SandboxUnavailableError, match="self-test") as caught:
            own.worker("test", "")
        assert "could not run" in str(caught.value)


def test_a_closed_sandbox_gives_no_workers(sandbox: Sandbox) -> None:
    own = Sandbox(sandbox.backend)
    worker = own.worker("test", "")
    own.close()
    assert not worker.alive
    assert worker.ended_by is not None
    assert worker.ended_by.cause == "killed"
    with pytest.raises(SandboxUnavailableError, match="closed"):
        own.worker("test", "")


def test_calls_sent_together_are_answered_one_by_one_with_faults_in_their_places(
    sandbox: Sandbox,
) -> None:
    source = "def double(n):\n    return 2 * n\n\ndef half(n):\n    return 1 // n\n"
    with loaded(sandbox, source) as worker:
        asked: list[tuple[str, list[Json]]] = [("double", [2]), ("half", [0]), ("double", [3])]
        first, failed, last = worker.ask_many(asked, at_once=2)
        assert (first, last) == (4, 6)
        assert isinstance(failed, ModuleFault)
        assert (failed.kind, failed.function, failed.line) == ("raised", "half", 5)
        assert worker.ask_many([]) == []
        assert isinstance(worker.ask("half", [0]), ModuleFault)


def test_calls_whose_answers_are_too_long_together_are_answered_all_the_same(
    sandbox: Sandbox,
) -> None:
    """A reply has at most 8 MiB: of seven texts of 2 MiB three fit, and one of 9 MiB does not."""
    with loaded(sandbox, "def text(n):\n    return n * 2**20 * 'x'\n") as worker:
        sizes = [2, 2, 2, 9, 2, 2, 2, 2]
        answers = worker.ask_many([("text", [size]) for size in sizes])
    told = [len(a) if isinstance(a, str) else getattr(a, "function", a) for a in answers]
    assert told == [2 * 2**20 if size == 2 else "text" for size in sizes]
