"""A game is varied in words, read again within bounds, and never its own parent."""

from typing import Any

import pytest

from agents.model.errors import MalformedReplyError
from agents.roles.mechanics import breed
from agents.roles.variation import WordedGame, reword_rules, settle_rules
from tests.agents.model.endpoint import Answer, as_json, serving
from tests.agents.model.talking import chat_with
from vectorstore.mechanics import KnownMechanic, MechanicCluster

RULES = {"R1": "Deal five cards.", "R2": "Play a card of the suit led.", "R3": "Most tricks win."}
REPLACED = ["“follow suit” (R2) gives way to “bid for the lead”: The highest bid leads."]


def varied(*texts: str, players: int = 3) -> dict[str, Any]:
    said = texts or ("Deal five cards.", "The highest bid leads.", "Most tricks win.")
    rules = [{"id": f"R{n}", "section": "Turn", "text": text} for n, text in enumerate(said, 1)]
    return {"title": "Bidders", "summary": "Bids.", "num_players": players, "rules": rules}


def reading(*problems: str, rules: tuple[tuple[str, str], ...] = ()) -> Answer:
    new = [{"id": id_, "section": "Turn", "text": text} for id_, text in rules]
    return as_json({"problems": [*problems], "rules": new, "dropped": []})


def reworded(*answers: Answer, retries: int = 3) -> tuple[WordedGame, list[Any]]:
    with serving(*answers) as endpoint:
        model = chat_with(endpoint, retries=retries)
        game = reword_rules(model, title="Tricks", players="3", rules=RULES, replaced=REPLACED)
    return game, endpoint.requests


def test_the_replacement_and_the_rules_are_asked_with() -> None:
    game, requests = reworded(as_json(varied()))
    assert (game.title, game.num_players, game.settled) == ("Bidders", 3, False)
    assert game.rules[1].text == "The highest bid leads."
    asked = requests[0]["messages"][-1]["content"]
    assert REPLACED[0] in asked
    assert "R2: Play a card of the suit led." in asked


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (varied(*RULES.values()), "it is the known game"),
        (varied("deal five cards", "Most tricks win!", "Deal five cards."), "it is the known game"),
        (varied(players=20), "num_players"),
        (varied(players=0), "num_players"),
        (varied("One rule."), "rules"),
        (varied("A.", "B.", " "), "R3: a rule has an id"),
        (varied("A.", "B.", "x" * 1001), "R3: longer than 1000"),
        ({**varied(), "rules": [varied()["rules"][0]] * 3}, "R1 stand there twice"),
    ],
)
def test_what_is_no_other_game_is_told_and_asked_again(wrong: dict[str, Any], said: str) -> None:
    game, requests = reworded(as_json(wrong), as_json(varied()))
    assert game.title == "Bidders"
    assert said in requests[1]["messages"][-1]["content"]


def test_a_variant_that_is_its_parent_every_time_is_given_up() -> None:
    with pytest.raises(MalformedReplyError, match="it is the known game"):
        reworded(as_json(varied(*RULES.values())), retries=2)


def test_readings_end_once_nothing_is_found() -> None:
    game, _ = reworded(as_json(varied()))
    mended = reading("R2: equal bids are left open.", rules=(("R2", "The first highest bid."),))
    with serving(mended, reading()) as endpoint:
        found = settle_rules(chat_with(endpoint), game, REPLACED, rounds=5)
    assert found.settled
    assert found.problems == ("R2: equal bids are left open.",)
    assert [rule.text for rule in found.rules][1] == "The first highest bid."
    assert len(endpoint.requests) == 2
    assert "equal bids" in endpoint.requests[1]["messages"][-1]["content"]


def test_readings_that_always_find_something_are_bounded_and_said() -> None:
    game, _ = reworded(as_json(varied()))
    answers = [reading(f"P{n}", rules=(("R2", f"Bid {n}."),)) for n in range(9)]
    with serving(*answers) as endpoint:
        found = settle_rules(chat_with(endpoint), game, REPLACED, rounds=3)
    assert not found.settled
    assert found.problems == ("P0", "P1", "P2")
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (reading("Unclear."), "mends none"),
        (reading(rules=(("R2", "New."),)), "names no problem"),
        (as_json({"problems": ["P"], "rules": [], "dropped": ["R9"]}), "it drops R9"),
    ],
)
def test_a_reading_that_contradicts_itself_is_asked_again(wrong: Answer, said: str) -> None:
    game, _ = reworded(as_json(varied()))
    with serving(wrong, reading()) as endpoint:
        assert settle_rules(chat_with(endpoint), game, REPLACED, rounds=1).settled
    assert said in endpoint.requests[1]["messages"][-1]["content"]


CLUSTER = MechanicCluster(
    id="C3",
    depth=1,
    name="empty the hand",
    members=tuple(KnownMechanic(game=f"g{n}", name="empty the hand", depth=1) for n in range(4)),
)


def bred(*names: str) -> Answer:
    made = [{"name": name, "text": f"{name}, exactly."} for name in names]
    return as_json({"theme": "Go out.", "variation": "When.", "mechanics": made})


def same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def test_each_question_breeds_with_another_mutation() -> None:
    with serving(bred("lend a hand", "Empty the hand"), bred("pay to go out")) as endpoint:
        found = breed(chat_with(endpoint), CLUSTER, 2, same)
    assert [one.name for one in found.bred] == ["lend a hand", "pay to go out"]
    assert (found.theme, found.variation, found.remark) == ("Go out.", "When.", "")
    systems = [request["messages"][0]["content"] for request in endpoint.requests]
    assert len(set(systems)) == 2
    assert "lend a hand" in endpoint.requests[1]["messages"][-1]["content"]


def test_a_model_that_gives_the_same_mechanic_thirty_times_is_asked_twice_and_it_is_said() -> None:
    with serving(bred(*["empty the hand"] * 30)) as endpoint:
        found = breed(chat_with(endpoint), CLUSTER, 3, same)
    assert len(endpoint.requests) == 2
    assert found.bred == ()
    assert found.remark == "0 of 3 new ones: the model gave the same again"


def test_a_new_mechanic_without_a_text_is_asked_for_again() -> None:
    empty = {"theme": "Go out.", "variation": "", "mechanics": [{"name": "lend", "text": " "}]}
    with serving(as_json(empty), bred("lend a hand")) as endpoint:
        assert len(breed(chat_with(endpoint), CLUSTER, 1, same).bred) == 1
    assert "short `name` and a `text`" in endpoint.requests[1]["messages"][-1]["content"]
