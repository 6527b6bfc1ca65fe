"""Mechanic graphs are read backwards from the end, and nothing comes in that no rule backs."""

from typing import Any

import pytest

from agents.model.errors import MalformedReplyError
from agents.protocols import RoleError
from agents.roles.mechanics import extract_graph, numbered_rules
from tests.agents.model.endpoint import Answer, as_json, serving
from tests.agents.model.talking import chat_with

WAR = numbered_rules(
    "The pack is dealt out. Each turn both players turn a card. The higher card takes both. "
    "The game ends when a player has all cards."
)


def found(name: str, to: str = "M1", rule: str = "R4", kind: str = "action") -> dict[str, Any]:
    return {"name": name, "text": "It is so.", "kind": kind, "rules": [rule], "leads_to": [to]}


def level(*mechanics: dict[str, Any], problems: tuple[str, ...] = ()) -> Answer:
    return as_json({"mechanics": [*mechanics], "problems": [*problems]})


def test_each_level_asks_for_what_leads_to_the_one_before() -> None:
    with serving(
        level(found("have all cards")),
        level(found("the higher card takes both", "M2", "R3"), found("turn a card", "M2", "R2")),
        level(found("Turn a card.", "M3", "R2"), found("deal the pack", "M4", "R1")),
        level(problems=("Equal cards are left open.",)),
    ) as endpoint:
        made = extract_graph(chat_with(endpoint), WAR)
    ends = {(edge.source, edge.target) for edge in made.graph.edges}
    # The third level leads from a mechanic that was there to another: no tree is required.
    assert ends == {("M2", "M1"), ("M3", "M2"), ("M4", "M2"), ("M4", "M3"), ("M5", "M4")}
    assert made.graph.depths == {"M1": 0, "M2": 1, "M3": 2, "M4": 2, "M5": 3}
    assert made.graph.node("M3").rules == ("R3",)
    assert made.problems == ("Equal cards are left open.",)
    asked = [request["messages"][-1]["content"] for request in endpoint.requests]
    assert ["To be expanded now: M3, M4" in one for one in asked] == [False, False, True, False]


def test_the_search_ends_at_its_depth() -> None:
    with serving(level(found("have all cards")), level(found("turn a card", "M2"))) as endpoint:
        made = extract_graph(chat_with(endpoint), WAR, 2)
    assert len(endpoint.requests) == 2
    assert len(made.graph.nodes) == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (found("bid for the trick", rule="R9"), "which there are not"),
        ({**found("bid for the trick"), "rules": []}, "names no rule"),
        (found("bid for the trick", "M7"), "which are not listed"),
        (found("the game ends"), "in a circle"),
        (found("x" * 81), "short phrase"),
    ],
)
def test_what_no_graph_can_have_is_told_and_asked_again(wrong: dict[str, Any], said: str) -> None:
    with serving(level(wrong), level(found("have all cards")), level()) as endpoint:
        made = extract_graph(chat_with(endpoint), WAR)
    assert [node.name for node in made.graph.nodes] == ["the game ends", "have all cards"]
    assert said in endpoint.requests[1]["messages"][-1]["content"]


def test_five_hundred_mechanics_are_refused_within_the_bounded_tries() -> None:
    flood = level(*(found(f"mechanic {number}") for number in range(500)))
    with serving(flood) as endpoint, pytest.raises(MalformedReplyError, match="501 mechanics"):
        extract_graph(chat_with(endpoint, retries=2), WAR)
    assert len(endpoint.requests) == 3


def test_a_circle_over_two_levels_is_refused() -> None:
    one, two = found("have all cards"), found("turn a card", "M2")
    back = found("have all cards", "M3")
    with (
        serving(level(one), level(two), level(back)) as endpoint,
        pytest.raises(MalformedReplyError, match="in a circle: M2 have all cards → M3"),
    ):
        extract_graph(chat_with(endpoint, retries=1), WAR)


def test_rules_without_an_end_have_no_graph() -> None:
    with (
        serving(level(problems=("Nothing ends it.",))) as endpoint,
        pytest.raises(RoleError, match=r"no rule says how the game ends.*Nothing ends it\."),
    ):
        extract_graph(chat_with(endpoint), numbered_rules("Draw a card on your turn."))


def test_rules_are_numbered_as_they_say_it_themselves_or_by_sentence() -> None:
    assert numbered_rules("## Turn\n\n- R3: Draw.\n- R7: Pass.\n") == {"R3": "Draw.", "R7": "Pass."}
    assert numbered_rules("出牌。跟牌。") == {"R1": "出牌。", "R2": "跟牌。"}
    assert list(numbered_rules("Whoever draws the last card wins")) == ["R1"]
    with pytest.raises(RoleError, match="empty"):
        numbered_rules("# Title\n\n- \n")
    with pytest.raises(RoleError, match="200000 characters; required: at most 40000"):
        numbered_rules("A" * 200_000)
