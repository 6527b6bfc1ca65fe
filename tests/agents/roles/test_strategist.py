from collections.abc import Callable, Sequence

import pytest
from pydantic import JsonValue

from agents.model.errors import MalformedReplyError
from agents.protocols import Heuristic, RoleError
from agents.roles import ModelStrategist
from tests.agents.model.endpoint import Answer, Request, as_json, message, serving
from tests.agents.model.talking import chat_with
from tests.agents.roles.games import DESIGN, high_draw
from tests.graph.answering import answer, named_in, schema_of

SOURCE = "def score(observation, action):\n    return 1.0\n"
SAMPLES: list[dict[str, JsonValue]] = [
    {"observation": {"hand": ["5"]}, "legal": ["keep", "change"]}
]
BROKEN = Heuristic(name="keep_high", policy="Keep high cards.", source=SOURCE)


def once(name: str, wrong: Answer) -> Callable[[Request], Answer]:
    """Answers well, but for the first request for `name`."""
    failed: list[str] = []

    def step(request: Request) -> Answer:
        if schema_of(request) == name and not failed:
            failed.append(name)
            return wrong
        return answer(request)

    return step


def asked_of(
    answers: Callable[[Request], Answer], retries: int = 2
) -> tuple[Sequence[Heuristic], list[Request]]:
    with serving(answers) as endpoint:
        chat = chat_with(endpoint, retries=retries)
        return ModelStrategist(chat).heuristics(DESIGN, high_draw(), SAMPLES), endpoint.requests


def test_four_strategies_four_measures_and_four_reviews_become_twelve_heuristics() -> None:
    found, requests = asked_of(answer)
    assert len({heuristic.name for heuristic in found}) == 12
    assert [schema_of(request) for request in requests] == ["PoliciesReply"] * 3 + [
        "HeuristicsReply"
    ] * 3
    review = requests[2]["messages"][1]["content"]
    assert review.count('source="strategy"') == review.count('source="measure"') == 4
    user = requests[3]["messages"][1]["content"]
    assert '{"observation":{"hand":["5"]},"legal":["keep","change"]}' in user
    assert "def get_observations(state):" in user
    assert "def apply_action" not in user


def sources(change: Callable[[dict[str, str]], dict[str, str]]) -> Callable[[Request], Answer]:
    """Answers well, but for the first heuristic of the first reply with code."""
    seen: list[str] = []

    def step(request: Request) -> Answer:
        if schema_of(request) != "HeuristicsReply" or seen:
            return answer(request)
        seen.extend(names := named_in(request))
        items = [{"name": name, "source": SOURCE} for name in names]
        return as_json({"heuristics": [change(items[0]), *items[1:]]})

    return step


@pytest.mark.parametrize(
    "change",
    [
        {"source": "def score(observation, action):\n  return ("},
        {"source": "import os\n\n\n" + SOURCE},
        {"source": "def rate(observation, action):\n    return 1.0\n"},
        {"name": "another"},
    ],
)
def test_one_policy_whose_code_does_not_work_costs_no_other(change: dict[str, str]) -> None:
    found, requests = asked_of(sources(lambda item: item | change))
    assert len(requests) == 6  # strategies, measures, review, three times code: none of it twice
    broken = {"source": ""} | change
    assert [one.source for one in found[:4]] == [broken["source"], SOURCE, SOURCE, SOURCE]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a", "b", "c"], "it has 3 policies; required: 4"),
        (["a", "a", "b", "c"], "the same name"),
        (["Keep High", "a", "b", "c"], "should match pattern"),
        (["not_a", "a", "b", "c"], "the name 'not_a' is taken"),
    ],
)
def test_policies_that_cannot_be_used_are_sent_back(names: list[str], said: str) -> None:
    wrong = as_json({"policies": [{"name": name, "policy": "Win."} for name in names]})
    found, requests = asked_of(once("PoliciesReply", wrong))
    assert len(found) == 12
    assert said in requests[1]["messages"][-1]["content"]


def test_code_that_cannot_be_read_costs_its_own_policies_alone() -> None:
    found, _ = asked_of(once("HeuristicsReply", message("In prose.")), retries=0)
    assert [bool(heuristic.source) for heuristic in found] == [False] * 4 + [True] * 8


def test_policies_that_cannot_be_read_at_all_raise() -> None:
    with serving(lambda _: message("In prose.")) as endpoint:
        strategist = ModelStrategist(chat_with(endpoint, retries=0))
        with pytest.raises(MalformedReplyError):
            strategist.heuristics(DESIGN, high_draw(), SAMPLES)


def test_a_repair_is_one_call_that_says_what_was_wrong() -> None:
    with serving(answer) as endpoint:
        strategist = ModelStrategist(chat_with(endpoint))
        mended = strategist.repair(DESIGN, high_draw(), SAMPLES, [(BROKEN, "raised KeyError")])
        assert len(endpoint.requests) == 1
    assert [heuristic.name for heuristic in mended] == ["keep_high"]
    assert mended[0].source != SOURCE
    user = endpoint.requests[0]["messages"][1]["content"]
    assert "raised KeyError" in user
    assert SOURCE.strip() in user


def test_of_many_samples_the_first_and_the_last_are_told() -> None:
    samples: list[dict[str, JsonValue]] = [
        {"observation": {"hand": [f"card {number}"]}, "legal": ["keep"]} for number in range(12)
    ]
    with serving(answer) as endpoint:
        strategist = ModelStrategist(chat_with(endpoint, retries=0))
        strategist.repair(DESIGN, high_draw(), samples, [(BROKEN, "raised KeyError")])
    (asked,) = endpoint.requests
    told = [n for n in range(12) if f'"card {n}"' in str(asked["messages"])]
    assert told == [0, 3, 7, 11]


def test_source_of_a_reply_is_read_and_never_run() -> None:
    trap = "raise SystemExit\n" + SOURCE
    found, _ = asked_of(sources(lambda item: item | {"source": trap}))
    assert found[0].source == trap


def test_a_module_that_does_not_parse_costs_no_call() -> None:
    with serving(answer) as endpoint:
        with pytest.raises(RoleError, match="does not parse at line 1"):
            ModelStrategist(chat_with(endpoint)).heuristics(DESIGN, "def (", SAMPLES)
        assert endpoint.requests == []


def test_samples_show_a_rare_kind_of_action() -> None:
    def sample(number: int, *legal: JsonValue) -> dict[str, JsonValue]:
        return {"observation": {"n": number}, "legal": [*legal]}

    usual, rare = [sample(n, "roll", "stop") for n in range(12)], sample(12, "push 2", "stop")
    with serving(answer) as endpoint:
        met = [*usual[:5], rare, *usual[5:]]
        ModelStrategist(chat_with(endpoint)).heuristics(DESIGN, high_draw(), met)
        told = endpoint.requests[3]["messages"][1]["content"]
    assert told.count('"legal":["roll","stop"]') == 4
    assert told.count('"push 2"') == 1
