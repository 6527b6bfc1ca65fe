from dataclasses import replace
from typing import Any

import pytest

from agents.model.errors import MalformedReplyError
from agents.roles import ModelValidator
from agents.roles.texts import record_text
from tests.agents.model.endpoint import as_json, message, serving
from tests.agents.model.talking import chat_with
from tests.agents.roles.games import DESIGN, high_draw, record

CLEAN: dict[str, Any] = {
    "illegal_ply": None,
    "rule": None,
    "explanation": "Turns and score are right.",
    "function": None,
}
TEST: dict[str, Any] = {
    "name": "chance deals first",
    "rule": "R1",
    "actions": [],
    "function": "get_current_player",
    "expected_json": "-1",
}


def test_a_clean_record_has_no_illegal_ply() -> None:
    with serving(as_json(CLEAN)) as endpoint:
        verdict = ModelValidator(chat_with(endpoint)).judge(DESIGN, record())
    assert (verdict.illegal_ply, verdict.rule) == (None, "")


def test_a_fault_names_its_ply_its_rule_and_the_function() -> None:
    fault = CLEAN | {"illegal_ply": 3, "rule": "R3", "function": "get_rewards"}
    with serving(as_json(fault)) as endpoint:
        verdict = ModelValidator(chat_with(endpoint)).judge(DESIGN, record())
    assert (verdict.illegal_ply, verdict.rule, verdict.function) == (3, "R3", "get_rewards")


def test_the_schema_takes_only_the_games_own_rule_ids() -> None:
    with serving(as_json(CLEAN)) as endpoint:
        ModelValidator(chat_with(endpoint)).judge(DESIGN, record())
    schema = endpoint.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["rule"]["anyOf"][0]["enum"] == ["R1", "R2", "R3", "R4"]


@pytest.mark.parametrize(
    "wrong",
    [
        CLEAN | {"illegal_ply": 1, "rule": "R17"},
        CLEAN | {"illegal_ply": 1, "rule": "The highest card scores"},
        CLEAN | {"illegal_ply": 1},
        CLEAN | {"rule": "R1"},
        CLEAN | {"illegal_ply": 99, "rule": "R1"},
        CLEAN | {"illegal_ply": -1, "rule": "R1"},
    ],
)
def test_an_unreadable_verdict_is_an_exception_and_never_a_pass(wrong: dict[str, Any]) -> None:
    with serving(as_json(wrong)) as endpoint, pytest.raises(MalformedReplyError):
        ModelValidator(chat_with(endpoint, retries=0)).judge(DESIGN, record())
    with serving(message("Looks fine to me!")) as endpoint, pytest.raises(MalformedReplyError):
        ModelValidator(chat_with(endpoint, retries=0)).judge(DESIGN, record())


def test_a_long_record_is_cut_and_the_verdict_says_how_far_it_goes() -> None:
    short = record()
    plies = short.match.plies * 200
    long = replace(short, match=replace(short.match, plies=plies))
    with serving(as_json(CLEAN)) as endpoint:
        verdict = ModelValidator(chat_with(endpoint)).judge(DESIGN, long)
        assert "do not judge how the match ends" in endpoint.requests[0]["messages"][1]["content"]
    assert f"of {len(plies)})" in verdict.explanation


def test_a_records_text_holds_every_ply_with_what_was_legal_and_paid() -> None:
    text, shown = record_text(record(), limit=20_000)
    plies = record().match.plies
    assert shown == len(plies)
    assert all(f"does: {ply.action}\n  legal: {', '.join(ply.legal)}" in text for ply in plies)
    assert "pays: [" in text
    assert text.endswith(f"returns: {list(record().match.returns or ())}")


def test_observations_are_left_out_before_plies_are() -> None:
    full, _ = record_text(record(), limit=20_000)
    tight, shown = record_text(record(), limit=len(full) - 200)
    assert "sees: " in full
    assert "sees: " not in tight
    assert shown == len(record().match.plies)


def test_unit_tests_come_from_the_rules() -> None:
    with serving(as_json({"tests": [TEST]})) as endpoint:
        (test,) = ModelValidator(chat_with(endpoint)).unit_tests(DESIGN, high_draw())
    assert (test.rule, test.function, test.expected_json) == ("R1", "get_current_player", "-1")


@pytest.mark.parametrize(
    "tests",
    [[], [TEST] * 7, [TEST | {"expected_json": "minus one"}], [TEST | {"rule": "R99"}]],
)
def test_unit_tests_that_cannot_be_run_are_sent_back(tests: list[dict[str, Any]]) -> None:
    good = as_json({"tests": [TEST]})
    with serving(as_json({"tests": tests}), good) as endpoint:
        assert len(ModelValidator(chat_with(endpoint)).unit_tests(DESIGN, high_draw())) == 1
        assert len(endpoint.requests) == 2
