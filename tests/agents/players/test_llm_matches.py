"""Matches of players that are models: forfeits, costs, lessons, replays, whatever the workers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.model.errors import EndpointError
from agents.players.endpoint import ModelTable
from agents.players.registry import PlayerRoster
from games import library
from tests.agents.model.endpoint import Answer, Request, Step, error, message, serving
from tests.agents.model.talking import settings_for
from tests.agents.players.talking import part, take_first
from tools.playtest.jobs import GameSetup, MatchEntry
from tools.playtest.runner import Workers
from tools.playtest.series import Series, SeriesSettings, play_series, series_summary
from tools.sandbox import Sandbox

KUHN = GameSetup("kuhn_poker", library.source("kuhn_poker"), 2)
COT, REFLEXION = "llm:model=scripted", "llm:model=scripted,style=reflexion,lessons=2"


def played(
    sandbox: Sandbox,
    *script: Step,
    specs: tuple[str, str] = (COT, "random"),
    matches: int = 4,
    journal: Path | None = None,
    jobs: int = 1,
    **changes: object,
) -> tuple[Series, list[Request]]:
    with serving(*script) as endpoint:
        table = ModelTable.opened(settings_for(endpoint, **{"retries": 0, **changes}), {"scripted"})
        series = play_series(
            KUHN,
            specs,
            PlayerRoster(models=table),
            SeriesSettings(matches=matches, seed=4),
            sandbox=sandbox,
            journal=journal,
            workers=Workers(jobs, "processes"),
        )
        return series, endpoint.requests


def test_a_series_counts_what_each_player_used(sandbox: Sandbox) -> None:
    series, requests = played(sandbox, take_first, price_in=1.0, price_out=1.0)
    summary: Any = series_summary(series)
    asked, other = summary["entrants"]
    assert series.endings["finished"] == 4
    assert summary["cautions"] == {}
    figures = asked["used"]["figures"]
    assert figures["model_calls"]["total"] == len(requests) > 0
    assert figures["tokens_in"]["total"] == 100 * len(requests)
    assert figures["tokens_out"]["total"] == 20 * len(requests)
    assert figures["dollars"]["total"] == pytest.approx(120 * len(requests) / 1e6)
    assert "model_calls" not in other["used"]["figures"]


def test_a_forfeit_is_its_seats_with_its_cause_and_its_cost(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    journal = tmp_path / "j.jsonl"
    series, requests = played(sandbox, message("ACTION: sing"), matches=2, journal=journal)
    for match in range(2):
        entry = series.entries[match]
        seat = entry.culprit
        assert seat is not None
        assert series.seated(match)[seat] == 0
        assert (entry.ending, entry.returns) == ("forfeit", None)
        assert "'sing' is not a legal action now" in entry.reason
        assert entry.used[seat].figures["model_calls"].total == 3
    assert len(requests) == 6
    assert journal.read_text().count("'sing' is not a legal action now") == 6


def test_the_same_bytes_with_two_threads_and_from_the_recording(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    record = tmp_path / "exchanges.json"
    specs = (COT, "llm:model=scripted,style=belief,legal=no")

    def sometimes(request: Request) -> Answer:
        turn = str(request["messages"][1]["content"])
        first = len(request["messages"]) == 2
        word = "pass" if first and "turn 1" in turn else "bet" if len(turn) % 2 else "check"
        return take_first(request) if part(request, "actions") else message(f"ACTION: {word}")

    kept = []
    for name, jobs, more in (
        ("one", 1, {"record": record}),
        ("two", 2, {}),
        ("again", 2, {"replay": record}),
    ):
        journal = tmp_path / name
        _, requests = played(
            sandbox, sometimes, specs=specs, matches=4, journal=journal, jobs=jobs, **more
        )
        assert bool(requests) is (name != "again")
        kept.append(journal.read_bytes())
    assert kept[0] == kept[1] == kept[2]
    places = {exchange["place"] for exchange in json.loads(record.read_text())["exchanges"]}
    assert len(places) == len(json.loads(record.read_text())["exchanges"])
    assert "match/0/ply/2/seat/0/try/0" in places
    assert any(place.endswith("/try/1") for place in places)


def test_an_endpoint_that_goes_down_keeps_what_is_finished_and_the_same_series_goes_on(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    journal, whole = tmp_path / "j.jsonl", tmp_path / "whole.jsonl"
    _, requests = played(sandbox, take_first, journal=whole)
    down: list[Step] = [*[take_first] * (len(requests) - 1), error(503)]
    with pytest.raises(EndpointError, match="status 503"):
        played(sandbox, *down, journal=journal)
    kept = journal.read_bytes()
    assert 1 < kept.count(b"\n") < 5
    assert whole.read_bytes().startswith(kept)
    series, again = played(sandbox, take_first, journal=journal)
    assert 0 < len(again) < len(requests)
    assert journal.read_bytes() == whole.read_bytes()
    told: Any = series_summary(series)["cautions"]
    claimed = kept.count(b"\n") - 1
    assert told["not asked again"].startswith(f"{claimed} matches are in the journal whose players")


def lessons(entries: Mapping[int, MatchEntry]) -> list[tuple[str, ...]]:
    return [entry.lessons for _, entry in sorted(entries.items())]


def test_a_match_is_told_lessons_of_its_entrants_earlier_deals_and_of_no_other_match(
    sandbox: Sandbox,
) -> None:
    def numbered(request: Request) -> Answer:
        if part(request, "actions"):
            return take_first(request)
        reflected.append(request)
        return message(f"note {len(reflected) - 1}")

    reflected: list[Request] = []
    series, requests = played(sandbox, numbered, specs=(REFLEXION, "random"), matches=8)
    # A match a reflection, in match order; the seat that learned is the entrant's.
    for match, learned in enumerate(lessons(series.entries)):
        seat = series.seated(match).index(0)
        assert learned == tuple(f"note {match}" if s == seat else "" for s in range(2))
    told = [part(request, "own notes").split("\n\n") for request in reflected]
    # Two matches a deal: the newest two notes are those of the whole deal before.
    expected = [
        [""] if match < 2 else [f"note {2 * (match // 2) - 2}", f"note {2 * (match // 2) - 1}"]
        for match in range(8)
    ]
    assert told == expected
    assert len(requests) > len(reflected) == 8


def test_lessons_do_not_depend_on_the_workers_or_on_a_stop(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    specs = (REFLEXION, REFLEXION.replace("lessons=2", "lessons=1"))
    kept = []
    for jobs in (1, 3):
        journal = tmp_path / f"{jobs}.jsonl"
        _, requests = played(sandbox, take_first, specs=specs, jobs=jobs, journal=journal)
        kept.append(journal.read_bytes())
    lines = kept[0].splitlines(keepends=True)
    stopped = tmp_path / "stopped.jsonl"
    stopped.write_bytes(b"".join(lines[:3]))
    _, again = played(sandbox, take_first, specs=specs, journal=stopped)
    assert kept[0] == kept[1] == stopped.read_bytes()
    assert len(again) < len(requests)
    assert b'"lessons":["Noted: By player' in kept[0]


def test_a_series_without_a_learner_leaves_no_lessons_in_its_journal(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    played(sandbox, take_first, journal=tmp_path / "j", matches=2)
    assert b"lessons" not in (tmp_path / "j").read_bytes()
