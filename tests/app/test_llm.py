"""Players that are models at the command line: costs, refusals, stops that can be gone on from."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agents.model.endpoint import Endpoint, Step, error, events, serving
from tests.agents.players.talking import take_first
from tests.app.conftest import Command

COT = ("--player", "llm:model=scripted", "--player", "random")
Environment = Callable[..., None]


@contextmanager
def endpoint_set(monkeypatch: pytest.MonkeyPatch, *script: Step, **more: str) -> Iterator[Endpoint]:
    with serving(*script) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RULEWRIGHT_RETRIES", "0")
        for name, value in more.items():
            monkeypatch.setenv(name, value)
        yield endpoint


def error_line(err: str) -> str:
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in err
    return line


def test_a_match_tells_calls_tokens_and_dollars_of_a_player(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = {"RULEWRIGHT_PRICE_IN": "1", "RULEWRIGHT_PRICE_OUT": "5"}
    with endpoint_set(monkeypatch, take_first, **prices) as endpoint:
        told = command("match", "kuhn_poker", *COT, "--games", "2")
        calls = len(endpoint.requests)
        result = command("match", "kuhn_poker", *COT, "--games", "2", "--json").json
    assert told.code == 0, told.err
    cost = (100 + 20 * 5) / 1e6 * calls
    assert (f"{calls} model calls, tokens {100 * calls} in, {20 * calls} out, "
            f"${cost:.4f}") in told.out  # fmt: skip
    assert "players ask scripted, in this command at most 80 calls, 2,000,000 tokens" in told.err
    assert result["endpoint"]["model"] == "scripted"
    assert result["entrants"][0]["used"]["figures"]["model_calls"]["total"] == calls
    assert "style=cot,model=scripted,history=5,legal=yes,rethinks=2" in result["players"][0]


def test_a_tournament_plays_models_on_threads_and_says_so(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = (*COT, "--player", "llm:model=other,style=react")
    with endpoint_set(monkeypatch, take_first) as endpoint:
        done = command("tournament", "kuhn_poker", *players, "--deals", "1", "--jobs", "2",
                       "--json")  # fmt: skip
    assert done.code == 0, done.err
    assert "players that are models share a client: threads play, not processes" in done.err
    assert {request["model"] for request in endpoint.requests} == {"scripted", "other"}
    used = [one["used"]["figures"].get("model_calls", {"total": 0}) for one in
            done.json["standings"]]  # fmt: skip
    assert sum(one["total"] for one in used) == len(endpoint.requests)
    assert used[1]["total"] == 0


def test_an_endpoint_that_goes_down_ends_the_command_and_the_same_command_goes_on(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = ("match", "kuhn_poker", *COT, "--games", "4", "--seed", "2", "--json", "--journal")
    with endpoint_set(monkeypatch, take_first) as endpoint:
        whole = command(*asked, tmp_path / "whole")
        calls = len(endpoint.requests)
    with endpoint_set(monkeypatch, *[take_first] * (calls - 1), error(500, "out of order")):
        stopped = command(*asked, tmp_path / "stopped")
    assert (stopped.code, stopped.json["end"]) == (2, "error")
    line = error_line(stopped.err)
    assert "out of order" in line
    assert f"finished matches are kept in {tmp_path / 'stopped'}: give the same command" in line
    with endpoint_set(monkeypatch, take_first) as endpoint:
        again = command(*asked, tmp_path / "stopped")
        assert len(endpoint.requests) < calls
    assert again.code == 0
    assert (tmp_path / "stopped").read_bytes() == (tmp_path / "whole").read_bytes()
    assert "3 matches are in the journal" in again.json["cautions"]["not asked again"]
    one, other = (dict(done.json, endpoint=None, cautions=None) for done in (again, whole))
    assert one == other


def test_a_match_tells_each_match_and_for_whom_it_waits(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with endpoint_set(monkeypatch, error(500, "busy"), take_first, RULEWRIGHT_RETRIES="1"):
        told = command("match", "kuhn_poker", *COT, "--games", "2", "--jobs", "2")
    assert told.code == 0, told.err
    assert "waiting for scripted: player, 0 s, try 2 of 2, after: status 500" in told.err
    assert all(f"{number} of 2 matches" in told.err for number in (1, 2))


def test_an_error_in_the_place_of_an_answer_is_no_forfeit(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with endpoint_set(monkeypatch, events('error: {"message": "no memory left"}')):
        done = command("match", "kuhn_poker", *COT, "--games", "2", "--json")
    assert (done.code, done.json["end"]) == (2, "error")
    assert "no memory left" in error_line(done.err)


@pytest.mark.parametrize(
    ("spec", "environment", "words"),
    [
        ("llm:style=cot", {}, ("model is ''", "required: model=NAME")),
        ("llm:style=tot,model=m", {}, ("known values: cot, react, reflexion, belief",)),
        ("llm:model=m", {}, ("no endpoint to ask for m", "OPENAI_BASE_URL")),
        (
            "llm:model=m",
            {"RULEWRIGHT_OFFLINE": "1", "OPENAI_BASE_URL": "http://models.example/v1"},
            ("'models.example' was refused", "nothing was kept: with --journal FILE"),
        ),
        (
            "llm:model=m",
            {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "RULEWRIGHT_RETRIES": "0"},
            ("no answer from m at 'match/0/ply/2/seat/0/try/0'",),
        ),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    environment: dict[str, str],
    words: tuple[str, ...],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = command("match", "kuhn_poker", "--player", spec, "--player", "random")
    assert done.code == 2
    assert all(word in error_line(done.err) for word in words), done.err


def test_reflexion_plays_in_order_and_says_so(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = ("--player", "llm:model=m,style=reflexion", "--player", "random")
    with endpoint_set(monkeypatch, take_first):
        done = command("match", "kuhn_poker", *players, "--games", "4", "--jobs", "2", "--json")
    assert done.code == 0, done.err
    assert "matches are played in order, one at a time" in done.err


def test_a_model_sits_at_a_persons_table(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint_set(monkeypatch, take_first) as endpoint:
        done = command("play", "kuhn_poker", "--watch", "--opponent", "llm:model=m", "--seed", "1")
        assert done.code == 0, done.err
        assert endpoint.requests
    with endpoint_set(monkeypatch, error(503, "closed")):
        down = command("play", "kuhn_poker", "--watch", "--opponent", "llm:model=m", "--seed", "1")
    assert down.code == 2
    assert "closed" in error_line(down.err)
    assert "The record: " in down.out
