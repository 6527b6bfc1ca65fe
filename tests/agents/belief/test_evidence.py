from agents.belief.evidence import Evidence, add_counterfactual
from agents.belief.zones import zones_of
from games.values import Json, State
from tests.agents.belief.posteriors import library_game

SEA: dict[str, Json] = {"rows": 5, "columns": 5, "ships": "3,2"}
FLEET = ["ship c4-e4", "ship a1-b1"]


def after(rules: object, state: State, *actions: str) -> State:
    apply = rules.apply_action  # type: ignore[attr-defined]
    for action in actions:
        state = apply(state, action)
    return state


def fired(target: str) -> tuple[Evidence, dict[str, tuple[bool, int]]]:
    """What seat 0 learns of every ship of two cells from one shot at c4-e4 and a1-b1."""
    rules, namespace, start = library_game("battleship", SEA)
    state = after(rules, start, "ship a5-c5", "ship e1-e2", *FLEET)
    zones = zones_of(namespace)
    assert zones is not None
    evidence = Evidence(rules, zones, seat=0)
    ships = [
        a.removeprefix("ship ") for a in rules.legal_actions(after(rules, start, "ship c4-e4"))
    ]
    evidence.candidates["fleets.1"] = dict.fromkeys([*ships, "c4-e4"])
    events = rules.events(state, target)[0]
    evidence.add((9, target, [*events]), [state], {})
    return evidence, {ship: evidence.about("fleets.1", ship, since=4) for ship in ships}


def covers(ship: str, cell: str) -> bool:
    (x, y), (to_x, to_y) = (tuple(end) for end in ship.split("-"))
    return x <= cell[0] <= to_x and y <= cell[1] <= to_y


def test_a_miss_rules_out_what_would_have_been_hit_and_needs_nothing() -> None:
    evidence, about = fired("fire b2")
    assert {ship for ship, (is_out, _) in about.items() if is_out} == {
        ship for ship in about if covers(ship, "b2")
    }
    assert evidence.needs("fleets.1", since=4) == 0


def test_a_hit_needs_a_ship_there_and_rules_out_none() -> None:
    evidence, about = fired("fire a1")
    assert evidence.needs("fleets.1", since=4) == 1
    assert not any(is_out for is_out, _ in about.values())
    supporting = {ship for ship, (_, supports) in about.items() if supports}
    assert supporting == {ship for ship in about if covers(ship, "a1")} == {"a1-b1", "a1-a2"}


def test_evidence_from_before_a_component_came_in_says_nothing_of_it() -> None:
    evidence, _ = fired("fire a1")
    assert evidence.needs("fleets.1", since=10) == 0
    evidence, _ = fired("fire b2")
    assert evidence.about("fleets.1", "b2-b3", since=10) == (False, 0)


def test_a_card_of_the_suit_that_was_not_followed_is_ruled_out_of_that_hand() -> None:
    rules, namespace, start = library_game("trick_taking", {"hand_size": 3, "deck": "tiny"})
    deal = [f"deal {card}" for card in ("9C", "9H", "TC", "TH", "9S", "JH")]
    state = after(rules, start, *deal, "play 9C")
    zones = zones_of(namespace)
    assert zones is not None
    evidence = Evidence(rules, zones, seat=0)
    evidence.candidates["hands.1"] = dict.fromkeys(
        card for card in (a.removeprefix("deal ") for a in rules.legal_actions(start))
    )
    evidence.add((8, "play TH", [*rules.events(state, "play TH")[0]]), [state], {})
    about = {
        card: evidence.about("hands.1", card, since=1) for card in evidence.candidates["hands.1"]
    }
    out = {card for card, (is_out, _) in about.items() if is_out}
    assert out == {"JC", "QC", "KC", "AC"}  # seat 0 holds the other two clubs itself
    assert [card for card, (_, supports) in about.items() if supports] == ["TH"]


def test_an_entry_that_no_state_explains_is_explained_by_one_made_up() -> None:
    rules, namespace, start = library_game("battleship", SEA)
    wrong = after(rules, start, "ship a5-c5", "ship e1-e2", "ship c4-e4", "ship d1-d2")
    right = after(rules, start, "ship a5-c5", "ship e1-e2", *FLEET)
    zones = zones_of(namespace)
    assert zones is not None
    evidence = Evidence(rules, zones, seat=0)
    evidence.candidates["fleets.1"] = dict.fromkeys(
        ["c1-c2", "d1-d2", "b1-c1", "a1-b1", "c4-e4", "a1-a2"]
    )
    add_counterfactual(evidence, 9, ["fire a1"], [*rules.events(right, "fire a1")[0]], wrong)
    supports = {
        c: evidence.about("fleets.1", c, since=4)[1] for c in evidence.candidates["fleets.1"]
    }
    assert {c for c, needs in supports.items() if needs} == {"a1-b1", "a1-a2"}
