from typing import Any

import pytest
from pydantic import JsonValue

from agents.protocols import RoleError
from agents.roles import ModelStrategist
from tests.agents.model.endpoint import as_json, serving
from tests.agents.model.talking import chat_with
from tests.agents.roles.games import DESIGN, high_draw

SOURCE = "def score(observation, action):\n    return 1.0\n"
ONE: dict[str, Any] = {"name": "keep_high", "policy": "Keep high cards.", "source": SOURCE}
TWO: dict[str, Any] = ONE | {"name": "change_low", "policy": "Change low cards."}
GOOD: dict[str, Any] = {"heuristics": [ONE, TWO]}
SAMPLES: list[dict[str, JsonValue]] = [
    {"observation": {"hand": ["5"]}, "legal": ["keep", "change"]}
]


def test_two_heuristics_come_from_one_call_that_shows_rules_samples_and_functions() -> None:
    with serving(as_json(GOOD)) as endpoint:
        found = ModelStrategist(chat_with(endpoint)).heuristics(DESIGN, high_draw(), SAMPLES)
        assert len(endpoint.requests) == 1
    assert [heuristic.name for heuristic in found] == ["keep_high", "change_low"]
    user = endpoint.requests[0]["messages"][1]["content"]
    assert '{"observation":{"hand":["5"]},"legal":["keep","change"]}' in user
    assert "def get_observations(state):" in user
    assert "def apply_action" not in user


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source": "def score(observation, action):\n  return ("}, "does not parse"),
        ({"source": "def rate(observation, action):\n    return 1.0\n"}, "must define score"),
        ({"source": "def score(observation):\n    return 1.0\n"}, "must define score"),
        ({"source": "import os\n" + SOURCE}, "imports os"),
        ({"source": SOURCE + "\nfrom random import choice\n"}, "imports random"),
        ({"name": "Keep High"}, "should match pattern"),
        ({"name": "change_low"}, "the same name"),
    ],
)
def test_a_heuristic_that_cannot_be_used_is_sent_back(change: dict[str, str], said: str) -> None:
    with serving(as_json({"heuristics": [ONE | change, TWO]}), as_json(GOOD)) as endpoint:
        strategist = ModelStrategist(chat_with(endpoint))
        assert len(strategist.heuristics(DESIGN, high_draw(), SAMPLES)) == 2
        assert said in endpoint.requests[1]["messages"][-1]["content"]


def test_source_of_a_reply_is_read_and_never_run() -> None:
    trap = ONE | {"source": "raise SystemExit\n" + SOURCE}
    with serving(as_json({"heuristics": [trap, TWO]})) as endpoint:
        found = ModelStrategist(chat_with(endpoint)).heuristics(DESIGN, high_draw(), SAMPLES)
    assert found[0].source.startswith("raise SystemExit")


def test_a_module_that_does_not_parse_costs_no_call() -> None:
    with serving(as_json(GOOD)) as endpoint:
        with pytest.raises(RoleError, match="does not parse at line 1"):
            ModelStrategist(chat_with(endpoint)).heuristics(DESIGN, "def (", SAMPLES)
        assert endpoint.requests == []
