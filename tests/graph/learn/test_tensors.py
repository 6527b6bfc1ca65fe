"""Observations as arrays: asked for on top of an accepted model, and no run stands on them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.learn.runs import run_learning
from graph.run.folder import RunFolder
from tests.agents.model.endpoint import message, serving
from tests.graph.learn.conftest import Learn, learning, recorded, told_of
from tests.graph.learn.test_hidden import DRAWING, MODEL
from tests.graph.learn.test_learning import FILES, Killed, code, edits, without_use
from tests.tools.predicting.material import ARRAYS, KUHN, changed
from tools.sandbox import Sandbox

CARDLESS = changed(ARRAYS, ("== c)", "== 'Q')"))
MENDED = {"cause": "cards", "edits": [{"search": "== 'Q')", "replace": "== c)"}]}
SCRIPT = (code(MODEL), code(DRAWING), message("Prose."), code(CARDLESS), edits(MENDED))


@pytest.fixture(scope="session")
def kuhn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("k") / "k.jsonl", "openspiel:kuhn_poker", 40)


def test_functions_that_lose_a_card_are_mended_by_what_failed(learn: Learn, kuhn: Path) -> None:
    with serving(*SCRIPT) as endpoint:
        done = learn(endpoint, matches=kuhn, tensors=3, max_calls=9, play_matches=40)
        asked, mend = ([m["content"] for m in endpoint.requests[n]["messages"]] for n in (2, -1))
    told = told_of(done)
    assert told["end"] == "passed", told["reason"]
    assert told["calls"] == {"transition": 1, "inference": 1, "tensors": 3}
    assert told["tensors"] == {
        "used": True,
        "width": 10,
        "observations": 12,  # all that Kuhn poker has at turns
        "held_out_accuracy": 1.0,
        "held_out_observations": told["tensors"]["held_out_observations"],
    }
    assert told["inferred"]["function"] == "resample_history"  # what stands below is told as before
    assert told["inferred"]["sights"] > 0
    assert told["phases"]
    assert '"betting":["Pass","Bet"]' in asked[1]
    assert "def resample_history" in asked[1]
    for part in ("tensor_to_observation(observation_to_tensor(", "difference:", '+ "card": "J"'):
        assert part in mend[1]
    assert "numpy.ndarray" in mend[0]
    module = (done.folder.path / "model.py").read_text()
    assert module.index("def resample_history") < module.index("def observation_to_tensor")


def test_without_functions_that_hold_the_model_stands_and_the_report_says_why(
    learn: Learn, kuhn: Path
) -> None:
    with serving(code(MODEL), code(DRAWING), code(CARDLESS), code(CARDLESS + "\n#\n")) as endpoint:
        done = learn(endpoint, matches=kuhn, tensors=2, max_calls=9)
    assert (told_of(done)["end"], told_of(done)["calls"]["tensors"]) == ("passed", 2)
    assert told_of(done)["tensors"]["used"] is False
    problem = told_of(done)["tensors"]["problem"]
    assert problem.startswith("all 2 calls for tensors are used and no candidate passes")
    assert "observation_to_tensor" not in (done.folder.path / "model.py").read_text()
    with serving(code(MODEL), code(DRAWING)) as endpoint:
        told = told_of(learn(endpoint, name="spent", matches=kuhn, tensors=2, max_calls=2))
    assert (told["end"], told["tensors"]["problem"]) == ("passed", "all 2 calls are used")


def test_what_the_model_defines_is_not_defined_again_and_no_clock_is_read(
    learn: Learn, kuhn: Path
) -> None:
    again = ARRAYS + "\n\ndef get_rewards(state):\n    return [9.0, 9.0]\n"
    with serving(code(MODEL), code(DRAWING), code(again), code("import time\n" + ARRAYS)) as one:
        told = told_of(learn(one, matches=kuhn, tensors=2, max_calls=9))
    assert told["tensors"]["used"] is False
    refused = [note["refused"] for note in told["curve"]]
    assert "defines get_rewards again" in refused[2][0]


def test_a_closed_deck_has_them_too(learn: Learn, tmp_path: Path) -> None:
    seen = recorded(tmp_path / "seen.jsonl", "openspiel:kuhn_poker", 40, seat=0)
    model = KUHN + DRAWING.removeprefix("import random\n")
    with serving(code(model), code(ARRAYS)) as endpoint:
        told = told_of(learn(endpoint, matches=seen, closed_deck=True, tensors=1, play_matches=40))
    assert told["calls"] == {"inference": 1, "tensors": 1}
    assert told["tensors"]["observations"] == 12  # the other seat's by play inside the model


def test_a_run_killed_at_any_call_for_them_goes_on_to_the_same_bytes(
    begun: Callable[..., RunFolder], sandbox: Sandbox, kuhn: Path
) -> None:
    asks = {"matches": kuhn, "tensors": 3, "max_calls": 9}
    whole = begun("whole", **asks)
    with serving(*SCRIPT) as endpoint:
        run_learning(whole, learning(whole, endpoint, sandbox))
    for call in (3, 4):  # nothing came of the one, and a candidate to mend of the other
        broken = begun(f"broken-{call}", **asks)

        def kill(event: dict[str, object], at: int = call) -> None:
            if event.get("call") == at:
                raise Killed

        with serving(*SCRIPT) as endpoint:
            with pytest.raises(Killed):
                run_learning(broken, learning(broken, endpoint, sandbox), tell=kill)
            run_learning(broken, learning(broken, endpoint, sandbox))
            assert len(endpoint.requests) == len(SCRIPT)
        assert without_use(whole) == without_use(broken)
        for name in FILES:
            assert (whole.path / name).read_bytes() == (broken.path / name).read_bytes()
