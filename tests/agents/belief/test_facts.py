import pytest

from agents.belief.facts import Facts
from agents.belief.imagination import imagine
from agents.belief.outlook import Outlook
from agents.belief.zones import Filled, zones_of
from games.contract import Json, State
from tests.agents.belief.posteriors import library_game

SEA: dict[str, Json] = {"rows": 5, "columns": 5, "ships": "3,2"}
FLEET = ["ship c4-e4", "ship a1-b1"]


def after(rules: object, state: State, *actions: str) -> State:
    apply = rules.apply_action  # type: ignore[attr-defined]
    for action in actions:
        state = apply(state, action)
    return state


def fired(target: str) -> tuple[Facts, dict[str, tuple[bool, int]]]:
    """What seat 0 learns of every ship of two cells from one shot at c4-e4 and a1-b1."""
    rules, namespace, start = library_game("battleship", SEA)
    state = after(rules, start, "ship a5-c5", "ship e1-e2", *FLEET)
    zones = zones_of(namespace)
    assert zones is not None
    facts = Facts(rules, zones, seat=0)
    ships = [
        a.removeprefix("ship ") for a in rules.legal_actions(after(rules, start, "ship c4-e4"))
    ]
    facts.known["fleets.1"] = dict.fromkeys([*ships, "c4-e4"])
    events = rules.events(state, target)[0]
    facts.witness((9, target, [*events]), [state], {})
    return facts, {ship: facts.about("fleets.1", ship, since=4) for ship in ships}


def covers(ship: str, cell: str) -> bool:
    (x, y), (to_x, to_y) = (tuple(end) for end in ship.split("-"))
    return x <= cell[0] <= to_x and y <= cell[1] <= to_y


def test_a_miss_rules_out_what_would_have_been_hit_and_needs_nothing() -> None:
    facts, about = fired("fire b2")
    assert {ship for ship, (is_out, _) in about.items() if is_out} == {
        ship for ship in about if covers(ship, "b2")
    }
    assert facts.needs("fleets.1", since=4) == 0


def test_a_hit_needs_a_ship_there_and_rules_out_none() -> None:
    facts, about = fired("fire a1")
    assert facts.needs("fleets.1", since=4) == 1
    assert not any(is_out for is_out, _ in about.values())
    supporting = {ship for ship, (_, supports) in about.items() if supports}
    assert supporting == {ship for ship in about if covers(ship, "a1")} == {"a1-b1", "a1-a2"}


def test_facts_from_before_a_component_came_in_say_nothing_of_it() -> None:
    facts, _ = fired("fire a1")
    assert facts.needs("fleets.1", since=10) == 0
    facts, _ = fired("fire b2")
    assert facts.about("fleets.1", "b2-b3", since=10) == (False, 0)


def test_a_card_of_the_suit_that_was_not_followed_is_ruled_out_of_that_hand() -> None:
    rules, namespace, start = library_game("trick_taking", {"hand_size": 3, "deck": "tiny"})
    deal = [f"deal {card}" for card in ("9C", "9H", "TC", "TH", "9S", "JH")]
    state = after(rules, start, *deal, "play 9C")
    zones = zones_of(namespace)
    assert zones is not None
    facts = Facts(rules, zones, seat=0)
    facts.known["hands.1"] = dict.fromkeys(
        card for card in (a.removeprefix("deal ") for a in rules.legal_actions(start))
    )
    facts.witness((8, "play TH", [*rules.events(state, "play TH")[0]]), [state], {})
    about = {card: facts.about("hands.1", card, since=1) for card in facts.known["hands.1"]}
    out = {card for card, (is_out, _) in about.items() if is_out}
    assert out == {"JC", "QC", "KC", "AC"}  # seat 0 holds the other two clubs itself
    assert [card for card, (_, supports) in about.items() if supports] == ["TH"]


def test_an_entry_that_no_state_explains_is_explained_by_one_made_up() -> None:
    rules, namespace, start = library_game("battleship", SEA)
    wrong = after(rules, start, "ship a5-c5", "ship e1-e2", "ship c4-e4", "ship d1-d2")
    right = after(rules, start, "ship a5-c5", "ship e1-e2", *FLEET)
    zones = zones_of(namespace)
    assert zones is not None
    facts = Facts(rules, zones, seat=0)
    facts.known["fleets.1"] = dict.fromkeys(["c1-c2", "d1-d2", "b1-c1", "a1-b1", "c4-e4", "a1-a2"])
    imagine(facts, 9, ["fire a1"], [*rules.events(right, "fire a1")[0]], wrong)
    supports = {c: facts.about("fleets.1", c, since=4)[1] for c in facts.known["fleets.1"]}
    assert {c for c, needs in supports.items() if needs} == {"a1-b1", "a1-a2"}


def test_what_a_deal_puts_where_is_read_off_the_declared_zones() -> None:
    rules, namespace, start = library_game("poker")
    zones = zones_of(namespace)
    assert zones is not None
    first = after(rules, start, "deal QH")
    second = after(rules, first, "deal KS")
    assert zones.filled(start, first, seat=0) is None  # it sees its own card
    assert zones.filled(start, first, seat=1) == Filled("hands.0", "QH")
    assert zones.filled(first, second, seat=0) == Filled("hands.1", "KS")
    exchanged = zones.exchanged(second, "hands.1", "KS", "JH", seat=0)
    assert exchanged is not None
    assert exchanged["hands"] == [["QH"], ["JH"]]
    assert sorted(map(str, exchanged["deck"])) == sorted(["KH", "QS", "JS", "KS"])  # type: ignore[arg-type]
    assert zones.exchanged(second, "hands.1", "KS", "QH", seat=0) is None  # lies open


def test_the_chance_that_the_rest_satisfies_the_needs() -> None:
    # Of ten components one is out, three satisfy need 1, two of these need 2 as well, six nothing.
    known = [(True, 0), (False, 1), (False, 3), (False, 3), *[(False, 0)] * 6]
    outlook = Outlook(known)
    nothing, one, both = (outlook.kind(False, supports) for supports in (0, 1, 3))
    chances = outlook.chances(needs=3, left=2)
    assert chances[0] == 0.0
    assert chances[both] == 1.0
    assert chances[one] == pytest.approx(1 - (7 / 9) ** 2)
    assert chances[nothing] == pytest.approx((1 - (6 / 9) ** 2) * (1 - (7 / 9) ** 2))
    assert outlook.chances(needs=3, left=0)[[nothing, one, both]].tolist() == [0.0, 0.0, 1.0]
