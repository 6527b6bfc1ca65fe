"""The arena of learned models: its tables, what a forfeit counts, and the paper's figures."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from evals.cwm import arena
from evals.cwm.arena import ArenaSize, run
from evals.cwm.synthesis import RECORDINGS
from evals.results import EvalError, EvalOptions, EvalResult
from tests.agents.model.endpoint import message, serving
from tests.tools.predicting.material import TIC_TAC_TOE, changed

TINY = ArenaSize(2, 8, rollouts=1, rejecting=1, seconds=0.02, games=("leduc_poker",))
FAILS = """def apply_action(state, action):
    assert state["board"].count(".") > 6
"""
PUBLISHED = Path(arena.__file__).parent / "published.json"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> EvalResult:
    options = EvalOptions(quick=True, folder=tmp_path_factory.mktemp("arena"))
    result = run(replace(options, seed=1), TINY)
    assert run(replace(options, seed=1), TINY).samples[:4] == (result.samples[:4]), (
        "from its journals"
    )
    return result


@pytest.mark.whole
def test_a_model_that_is_the_game_forfeits_nothing_and_is_never_surprised(
    played: EvalResult,
) -> None:
    scores = {score.name: score for score in played.scores}
    assert scores["forfeits of cwm"].value == scores["surprises a decision"].value == 0
    assert scores["transitions predicted online"].value == 1
    assert scores["transitions predicted online"].scored > 20


@pytest.mark.whole
def test_each_table_stands_beside_the_papers(played: EvalResult) -> None:
    tables = [row for row in played.samples if "opponent" in row]
    met = {(row["protocol"], row["opponent"]) for row in tables}
    assert met == {(one, other) for one in ("paper", "ours") for other in ("gt", "random")}
    syntheses = len([*(RECORDINGS / "learned").glob("leduc_poker*.json")])
    left = {syntheses - len(cast("list[str]", row["rejected"])) for row in tables}
    assert {row["n"] for row in tables} == {min(TINY.deals, *left)}
    assert all(row["matches"] == 2 * TINY.deals for row in tables)
    # Table 10, Leduc poker against GT-ISMCTS, cwm first.
    gt: Any = next(row for row in tables if row["opponent"] == "gt")
    assert gt["published"]["open deck"]["payoffs"][0] == [-0.65, 0.65]
    assert gt["not comparable"] == ""


def test_the_published_rows_are_what_a_table_can_say() -> None:
    for name, decks in json.loads(PUBLISHED.read_text())["games"].items():
        for deck, rows in decks.items():
            for row in rows.values() if deck != "not comparable" else ():
                for shares in row.get("wins", ()) if isinstance(row, dict) else ():
                    assert sum(shares) == pytest.approx(1), (name, deck)
                for pays in row.get("payoffs", ()) if isinstance(row, dict) else ():
                    assert name == "bargaining" or sum(pays) == pytest.approx(0), (name, deck)


@pytest.mark.whole
def test_with_an_endpoint_a_language_model_sits_across(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To call is legal at every decision of Leduc poker, so nobody forfeits."""
    calls = message("THOUGHT: cheap.\nACTION: Call")
    with serving(calls) as endpoint:
        monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        options = EvalOptions(quick=True, folder=tmp_path)
        result = run(replace(options, seed=1), TINY)
    rows = [row for row in result.samples if row.get("opponent") == "llm"]
    assert [row["protocol"] for row in rows] == ["paper", "ours"]
    assert all(row["matches"] == 2 * TINY.deals and not row["reasons"] for row in rows)
    asked = [str(request["messages"]) for request in endpoint.requests]
    assert len(asked) >= len(rows) * 2 * TINY.deals
    assert "'scripted'" in str(result.effective["llm"])


def test_several_models_are_learned_live_and_those_that_fail_are_rejected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Appendix F: "Execution failures ... result in both players losing the game"."""
    failing = changed(TIC_TAC_TOE, ("def apply_action(state, action):\n", FAILS))
    answers = [message(f"```python\n{code}```") for code in (failing, TIC_TAC_TOE)]
    size = ArenaSize(2, 8, rollouts=1, rejecting=1, seconds=0.02, games=("tic_tac_toe",))
    asked = EvalOptions(1, folder=tmp_path, settings={"syntheses": 2, "max_calls": 1})
    with serving(*answers) as endpoint:
        monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        result = run(asked, size)
        rows = [row for row in result.samples if "opponent" in row]
        assert {str(row["rejected"]) for row in rows} == {
            "['tic_tac_toe, synthesis 1, of scripted']"
        }
        assert {str(row["models"]) for row in rows} == {"['tic_tac_toe, synthesis 2, of scripted']"}
        before = len(endpoint.requests)
        run(asked, size)
        assert not [one for one in endpoint.requests[before:] if "python" in str(one)], "kept"
    assert result.effective["set"] == {"syntheses": 2, "max_calls": 1}


@pytest.mark.parametrize(
    ("settings", "model", "games", "said"),
    [
        ({"syntheses": 0}, "scripted", ("mnk",), "syntheses"),
        ({"synthesis": 5}, "scripted", ("mnk",), "known are .*syntheses"),
        ({"syntheses": 5}, "", ("mnk",), "set RULEWRIGHT_MODEL"),
        ({"syntheses": 5}, "scripted", (), "name the games"),
    ],
)
def test_what_cannot_be_learned_live_is_said(
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    model: str,
    games: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setenv("RULEWRIGHT_MODEL", model)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(EvalError, match=said):
        run(EvalOptions(games=games, settings=settings))
