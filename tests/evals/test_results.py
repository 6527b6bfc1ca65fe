import platform
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import ValidationError

from evals import fit, paraphrase
from evals.bench import fairness
from evals.results import (
    EvalError,
    EvalInfo,
    EvalOptions,
    EvalResult,
    NothingScoredError,
    Score,
    find_eval,
    inputs_of,
    known_evals,
    resized,
    score_over,
)


def test_an_unscored_sample_breaks_a_threshold() -> None:
    assert score_over([True, True], "made", at_least=1.0).passed
    assert not score_over([True, None], "made", at_least=1.0).passed


def test_nothing_scored_is_no_result() -> None:
    with pytest.raises(NothingScoredError, match="none of 2"):
        score_over([None, None], "made", at_least=0.5)


@pytest.mark.parametrize(("value", "passed"), [(0.2, True), (0.21, False)])
def test_an_upper_threshold_holds(value: float, passed: bool) -> None:
    assert Score(name="dropped", value=value, at_most=0.2, scored=5).passed is passed


def test_a_threshold_that_is_misspelt_is_refused_and_not_left_out() -> None:
    with pytest.raises(ValidationError, match="at_leats"):
        Score("a", 1.0, 3, at_leats=5)  # type: ignore[call-arg]


def test_a_result_fails_with_any_of_its_scores() -> None:
    good = Score(name="a", value=1.0, at_least=1.0, scored=1)
    bad = Score(name="b", value=0.0, at_least=1.0, scored=1)
    assert EvalResult(name="x", scores=(good,), samples=(), effective={}).passed
    result = EvalResult(name="x", scores=(good, bad), samples=(), effective={})
    assert not result.passed
    assert "FAILED b" in result.as_text()


def test_an_unknown_eval_is_an_error_with_the_known_ones() -> None:
    with pytest.raises(EvalError, match="smoke"):
        find_eval("nothing")


def test_an_option_that_an_eval_does_not_take_is_an_error_with_those_that_do() -> None:
    with pytest.raises(EvalError, match="smoke takes no --games.*cwm-arena"):
        find_eval("smoke").run(EvalOptions(tell=print, games=("hearts",)))


def test_every_eval_takes_a_quick_variant() -> None:
    assert [info.name for info in known_evals() if "quick" not in info.takes] == []


def test_a_quick_variant_is_smaller() -> None:
    found = fairness.run(EvalOptions(quick=True), [fairness.GAMES[0]], runs=100)
    assert found.effective["runs"] == 10


def test_examples_hold_the_whole_input() -> None:
    """What a person needs to read a sample in LangSmith, or to run it again."""
    pair = paraphrase.load_pairs()[0]
    row = paraphrase.score_pairs([paraphrase.JudgedPair(pair, ("honoured",), ())], {}).samples[0]
    assert inputs_of(row)["prompts"] == [pair.a, pair.b]
    brief = fit.load_briefs("confirm_33")[0]
    judged = fit.JudgedBrief(brief, "confirm_33", None, 0, {}, "no_fit")
    (row,) = fit.score_briefs([judged], {}).samples
    assert inputs_of(row) == {"messages": [{"role": "user", "content": brief.text}]}


def test_fewer_than_one_worker_is_refused() -> None:
    with pytest.raises(ValueError, match="workers is 0; required: at least 1"):
        EvalOptions(workers=0)


@dataclass(frozen=True)
class Size:
    deals: int = 400
    simulations: int = 1000
    games: tuple[str, ...] = ()


def test_a_size_is_the_usual_one_but_for_what_is_asked() -> None:
    asked = EvalOptions(games=("pig",), simulations=20)
    assert resized(Size(), asked, ["pig", "whist"], matches="deals") == Size(400, 20, ("pig",))
    assert resized(Size(), EvalOptions(matches=6), [], matches="deals") == Size(6)


def test_a_game_that_is_not_measured_is_refused_with_those_that_are() -> None:
    with pytest.raises(EvalError, match="no game chess is measured; known: pig, whist"):
        resized(Size(), EvalOptions(games=("chess", "pig")), ["whist", "pig"])


def test_an_evaluation_that_is_written_as_the_guide_says_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guide once gave `run` other arguments than it is called with."""
    guide = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    signatures = re.findall(r"Write one file in `evals/` with `(run\(.*?\))`", guide)
    assert len(signatures) == 1
    (tmp_path / "evaluation_of_the_guide.py").write_text(
        "from evals.results import EvalResult, score_over\n\n"
        f"def {signatures[0]}:\n"
        "    scores = (score_over([True, False], 'made'),)\n"
        "    return EvalResult(scores=scores, samples=(), effective={})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    info = EvalInfo(name="guide", question="Does it run?", module="evaluation_of_the_guide")
    found = info.run(EvalOptions(seed=3))
    assert (found.name, found.effective["seed"]) == ("guide", 3)
    assert [score.value for score in found.scores] == [0.5]


def test_every_eval_has_a_question() -> None:
    assert all(info.question.endswith("?") for info in known_evals())


def run(options: EvalOptions) -> EvalResult:
    options.tell(f"seed {options.seed}")
    return EvalResult(scores=(), samples=(), effective={"deals": 3})


def test_a_result_says_what_it_is_of_and_under_which_seed_and_versions() -> None:
    said: list[str] = []
    tiny = EvalInfo(name="tiny", question="Is it said?", module=__name__)
    found = tiny.run(EvalOptions(seed=7, tell=said.append))
    assert (found.name, said) == ("tiny", ["seed 7"])
    versions = found.effective.pop("versions")
    assert found.effective == {"seed": 7, "quick": False, "deals": 3}
    assert isinstance(versions, dict)
    assert versions["python"] == platform.python_version()
