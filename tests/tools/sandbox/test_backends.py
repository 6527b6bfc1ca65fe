"""What the local backends put in force, and what they do where a layer is missing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from games.values import Json, ModuleFault
from tests.tools.sandbox.test_worker import loaded
from tools.sandbox import Limits, Sandbox, SandboxUnavailableError
from tools.sandbox.backends import Kit
from tools.sandbox.holding import require_holding
from tools.sandbox.host import kit_for
from tools.sandbox.local import (
    NAMES,
    LinuxBackend,
    ProcessBackend,
    SeatbeltBackend,
    backend_named,
    default_backend,
)
from tools.sandbox.zygote_client import Layers, Zygote


@pytest.fixture(scope="module")
def strong() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


def test_the_default_is_strong_and_names_its_layers(strong: Sandbox) -> None:
    grade = strong.grade
    assert (grade.name, grade.backend) == ("strong", "linux")
    assert "system call allow-list" in grade.layers
    assert "unprivileged user" in grade.layers


@pytest.mark.parametrize(
    ("backend", "lacks", "reason"),
    [
        (LinuxBackend(namespaces=False), "namespaces", "namespaces are switched off"),
        (LinuxBackend(landlock=False), "Landlock", "no Landlock"),
    ],
)
def test_a_missing_layer_is_said(backend: LinuxBackend, lacks: str, reason: str) -> None:
    with Sandbox(backend) as sandbox:
        grade = sandbox.grade
    assert grade.name == "strong"
    assert not any(layer.startswith(lacks) for layer in grade.layers)
    assert reason in grade.reason


def test_a_worker_of_an_environment_that_was_first_changes_no_grade() -> None:
    with Sandbox() as sandbox:
        with sandbox.worker("environment", more=("numpy",)):
            pass  # it keeps its clock, and runs our own source alone
        assert sandbox.grade.name == "strong"


def test_without_isolation_the_grade_is_none() -> None:
    with Sandbox(ProcessBackend()) as sandbox:
        assert sandbox.grade.name == "none"
        assert "nothing keeps" in sandbox.grade.reason


def test_a_pool_that_does_not_hold_is_refused_by_what_got_out() -> None:
    limits = Limits()
    pool = Zygote(Kit(), limits, Layers())
    with pytest.raises(SandboxUnavailableError, match="self-test failed") as caught:
        require_holding(pool, limits)
    assert "open a TCP socket" in str(caught.value)
    assert "list the root folder" in str(caught.value)


def test_a_worker_is_not_root_and_sees_no_process_and_no_network(strong: Sandbox) -> None:
    source = (
        "import os\n"
        "def f():\n"
        "    return [os.getuid(), os.geteuid(), os.getgid(), os.getpid() < 100_000]\n"
    )
    with loaded(strong, source) as worker:
        assert worker.call("f") == [65534, 65534, 65534, True]


def test_a_blocked_call_ends_the_worker_and_is_told_apart(strong: Sandbox) -> None:
    source = "import ctypes\ndef f():\n    ctypes.CDLL(None).ptrace(0, 0, 0, 0)"
    with loaded(strong, source) as worker, pytest.raises(ModuleFault, match="no module needs"):
        worker.call("f")
    assert worker.ended_by is not None
    assert (worker.ended_by.cause, worker.ended_by.detail) == ("blocked_call", "SIGSYS")


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("import ctypes; ctypes.string_at(0)", "crashed"),
        ("import os; os._exit(3)", "exited"),
        ("sum(range(10**13))", "killed"),
    ],
)
def test_how_a_worker_ended_is_known(strong: Sandbox, body: str, cause: str) -> None:
    with (
        Sandbox(strong.backend, limits=Limits(memory_bytes=320 * 2**20)) as own,
        loaded(own, f"def f():\n    {body}") as worker,
        pytest.raises(ModuleFault),
    ):
        worker.call("f", deadline_s=1.0)
    assert worker.ended_by is not None
    assert worker.ended_by.cause == cause


def test_a_worker_that_used_up_its_processor_time_is_told_apart(strong: Sandbox) -> None:
    with (
        Sandbox(strong.backend, limits=Limits(cpu_s=1)) as own,
        loaded(own, "def f():\n    while True: pass") as worker,
        pytest.raises(ModuleFault, match="processor time"),
    ):
        worker.call("f", deadline_s=20)
    assert worker.ended_by is not None
    assert worker.ended_by.cause == "cpu_limit"


def numbers(told: Json) -> list[int]:
    return [one for one in told if isinstance(one, int)] if isinstance(told, list) else []


def test_the_number_of_a_process_tells_no_worker_which_one_it_is(strong: Sandbox) -> None:
    if "namespaces" not in strong.grade.layers:
        pytest.skip("without namespaces a worker's number is the zygote's")
    # The C library's block of a thread (pthread_t) holds the kernel's number of it.
    source = (
        "import collections\nsys = collections._sys\n"
        "def f():\n"
        "    block = sys.modules['ctypes'].string_at(sys.modules['_thread'].get_ident(), 0x300)\n"
        "    return [int.from_bytes(block[i:i + 4], 'little') for i in range(0, 0x300, 4)]"
    )
    told = []
    for _ in range(3):
        with loaded(strong, source) as worker:
            told.append([number for number in numbers(worker.call("f")) if 0 < number < 5000])
    assert told[0] == told[1] == told[2]


SNIPPETS = {
    "text and numbers": "import decimal, fractions, statistics, string, textwrap, unicodedata\n"
    "def f(): return [str(decimal.Decimal(1) / 3), str(fractions.Fraction(1, 3)),\n"
    "    statistics.mean([1, 2]), string.ascii_lowercase, textwrap.fill('a b'),\n"
    "    unicodedata.name('a')]",
    "dates": "import datetime, calendar, time\n"
    "def f(): return [str(datetime.datetime.strptime('2020-01-02', '%Y-%m-%d')),\n"
    "    calendar.month(2020, 1), time.strftime('%Z', time.localtime(0))]",
    "dataclasses and enums": "import dataclasses, enum, typing\n"
    "class Suit(enum.Enum):\n    HEARTS = 'h'\n"
    "@dataclasses.dataclass(frozen=True)\nclass Card:\n    suit: Suit\n    rank: int = 2\n"
    "def f(): return [str(Card(Suit.HEARTS)), dataclasses.asdict(Card(Suit.HEARTS))['rank']]",
    "randomness and hashes": "import random, hashlib, uuid, secrets\n"
    "def f(): return [random.Random(1).random(), hashlib.sha256(b'').hexdigest(),\n"
    "    len(secrets.token_hex(4)), str(uuid.UUID(int=5))]",
    "errors and text formats": "import traceback, json, csv, io, pprint, re, logging\n"
    "def f():\n    try: 1 / 0\n    except ZeroDivisionError: text = traceback.format_exc()\n"
    "    logging.warning('noted')\n"
    "    return [text[:9], json.dumps({'a': 1}), next(csv.reader(io.StringIO('a,b'))),\n"
    "        pprint.pformat([1]), re.sub('a', 'b', 'aa'), 'ä'.encode('idna').decode()]",
    "structures": "import heapq, bisect, collections, itertools, functools, graphlib, copy\n"
    "def f(): return [heapq.nsmallest(1, [3, 2]), bisect.bisect([1, 2], 2),\n"
    "    collections.Counter('aab')['a'], list(itertools.chain([1], [2])),\n"
    "    list(graphlib.TopologicalSorter({1: [2]}).static_order()), copy.deepcopy([1])]",
    "numpy": "import numpy as np\n"
    "def f():\n    a = np.arange(9.0).reshape(3, 3) + np.eye(3)\n"
    "    g = np.random.default_rng(0)\n"
    "    return [float(np.linalg.inv(a).sum()), float(np.fft.fft([1, 2]).real[0]), str(a)[:3],\n"
    "        int(g.integers(3)), float(np.ma.masked_array([1, 2], [0, 1]).sum()),\n"
    "        float(np.polynomial.Polynomial([1, 2])(3)), int(np.sort(np.array([2, 1]))[0]),\n"
    "        float((np.ones((300, 300)) @ np.ones((300, 300))).sum())]",
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_ordinary_code_runs_as_it_does_outside(strong: Sandbox, name: str) -> None:
    outside: dict[str, object] = {"__name__": "game"}
    os.environ.setdefault("TZ", "UTC")
    exec(compile(SNIPPETS[name], "<game>", "exec"), outside)
    function = outside["f"]
    assert callable(function)
    with loaded(strong, SNIPPETS[name]) as worker:
        assert worker.call("f") == function()


LOOK = """
import gc, types
def f(needles):
    seen, queue, hits = set(), list(gc.get_objects()), []
    while queue:
        item = queue.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, (str, bytes)):
            text = item if isinstance(item, str) else item.decode('utf-8', 'replace')
            hits += [text[:80] for needle in needles if needle in text and len(text) < 4000]
        elif isinstance(item, types.CodeType):
            queue += [item.co_filename, *item.co_consts]
        else:
            queue += gc.get_referents(item)
    return hits
"""


def test_no_path_of_the_host_is_left_in_a_worker(strong: Sandbox) -> None:
    here = Path(__file__).resolve().parents[3]
    needles: list[Json] = [f"{here}/", "site-packages", f"{Path(os.__file__).parent}/"]
    with loaded(strong, LOOK) as worker:
        hits = worker.call("f", [needles], deadline_s=30)
    assert isinstance(hits, list)
    assert [hit for hit in hits if hit not in needles] == []


def test_every_backend_has_a_name_and_an_unknown_one_lists_them() -> None:
    assert backend_named(None).name == default_backend().name == "linux"
    assert backend_named("linux").name == "linux"
    assert backend_named("process", accept_no_isolation=True).name == "process"
    with pytest.raises(ValueError, match=", ".join(NAMES)):
        backend_named("docker")


def test_no_isolation_has_to_be_accepted_in_so_many_words() -> None:
    with pytest.raises(ValueError, match="--i-accept-no-isolation"):
        backend_named("process")
    with pytest.raises(ValueError, match="goes with --sandbox process"):
        backend_named("linux", accept_no_isolation=True)


def test_macos_sandbox_is_refused_elsewhere() -> None:
    with pytest.raises(SandboxUnavailableError, match="needs macOS"):
        SeatbeltBackend().start(Kit(), Limits())


@pytest.mark.parametrize(
    ("source", "numpy"),
    [
        ("import numpy", True),
        ("import numpy.linalg as la", True),
        ("def f():\n    from numpy.random import default_rng", True),
        ("# numpy would be nice\nimport random", False),
        ("import numpyish", False),
        ("from . import numpy", False),
        ("import os, \\\n    numpy", True),
        ("if 1: import numpy", True),
        ("import random as numpy_like; x = 'numpy'", False),
        ("import numpy\0", False),
        ("numpy = " + "(" * 5000, False),
    ],
)
def test_numpy_is_found_by_the_import_alone(source: str, numpy: bool) -> None:
    assert kit_for(source) == Kit(numpy=numpy)
