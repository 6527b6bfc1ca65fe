"""What holds of every search, on games with chance, secrets, three seats and general sums."""

from collections.abc import Callable
from functools import cache
from typing import cast

import numpy as np
import pytest

from agents.search.algorithms import SEARCHES
from agents.worker.session import choose
from games import library
from games.information import entry_rows
from games.modules import bind, load_namespace, scoring
from games.values import Json, ModuleFault, State
from tests.agents.belief.logs import logs_of

# Name, seats, parameters, plies of random play before the decision.
GAMES: tuple[tuple[str, int, dict[str, Json], int], ...] = (
    ("tic_tac_toe", 2, {}, 3),  # perfect information, zero sum
    ("push_your_luck", 3, {"target_score": 30}, 9),  # dice, a race of three
    ("goofspiel", 3, {"cards": 4, "returns": "points"}, 6),  # hidden bids, general sums
    ("leduc_poker", 2, {}, 3),  # hidden hands
    ("battleship", 2, {"rows": 4, "columns": 4, "ships": "3,2"}, 12),  # hidden positions
    ("go_fish", 3, {}, 40),  # hidden hands, chance
)
HIDDEN = {"goofspiel", "leduc_poker", "battleship", "go_fish"}
SMALL: dict[str, dict[str, Json]] = {
    name: {"simulations": 30} for name in SEARCHES if name not in ("osla", "alphabeta")
}
SMALL |= {"osla": {"rollouts": 1}, "alphabeta": {}}
for _planner in ("rhea", "rmhc"):
    SMALL[_planner] |= {"horizon": 3}
SMALL["pimc"] |= {"worlds": 3}
VARIED: tuple[tuple[str, dict[str, Json]], ...] = (
    ("uct", {"policy": "mast"}),
    ("uct", {"policy": "gibbs", "rave": "grave", "reference": 5}),
    ("uct", {"transpositions": "yes"}),
    ("uct", {"widening": 1.5, "leaf": "truncated", "depth": 4}),
    ("ismcts", {"policy": "gibbs", "widening": 1.5}),
    ("moismcts", {"policy": "mast", "leaf": "truncated"}),
    ("pimc", {"rave": "rave"}),
    ("flatmc", {"policy": "mast"}),
    ("rhea", {"opponent": "greedy", "leaf": "truncated", "depth": 3}),
    ("rmhc", {"discount": 0.9, "trials": 2}),
)
EVERY = [*SMALL.items(), *((name, SMALL[name] | more) for name, more in VARIED)]


@cache
def decision(name: str) -> tuple[dict[str, object], dict[str, Json]]:
    """A position of a game some plies on, as a worker is asked about it."""
    family = next(game for game in GAMES if game[0] == name)
    _, seats, parameters, plies = family
    namespace = load_namespace(library.source(name))
    rules = bind(namespace, seats)
    initial_state = cast("Callable[..., State]", namespace["initial_state"])
    start = initial_state(seats, **parameters)
    generator = np.random.default_rng(1)
    state, actions = start, list[str]()
    legal = rules.legal_actions(state)
    while len(actions) < plies or rules.current_player(state) < 0 or len(legal) == 1:
        actions.append(legal[int(generator.integers(len(legal)))])
        state = rules.apply_action(state, actions[-1])
        legal = rules.legal_actions(state)
    seat = rules.current_player(state)
    log = logs_of(rules, start, actions)[seat]
    payload: dict[str, Json] = {
        "num_players": seats,
        "parameters": parameters,
        "seat": seat,
        "entries": [*entry_rows(log.entries)],
        "legal": [*legal],
    }
    return namespace, payload


def decide(
    name: str, algorithm: str, settings: dict[str, Json], seed: int = 0
) -> tuple[str, dict[str, Json]]:
    """The action and the effort of one decision."""
    namespace, payload = decision(name)
    asked: dict[str, Json] = {
        **payload,
        "algorithm": algorithm,
        "search": settings,
        "words": [seed],
    }
    if name in HIDDEN and algorithm != "alphabeta":
        asked |= {"belief": "auto", "determinizations": 0}
    reply = choose(namespace, asked)
    assert isinstance(reply, dict)
    if "refused" in reply:
        return "refused", reply
    return cast("str", reply["action"]), cast("dict[str, Json]", reply["effort"])


@pytest.mark.parametrize("game", [game[0] for game in GAMES])
@pytest.mark.parametrize(("algorithm", "settings"), EVERY, ids=lambda value: str(value)[:60])
def test_the_action_is_legal_the_same_for_a_seed_and_within_the_budget(
    algorithm: str, settings: dict[str, Json], game: str
) -> None:
    action, effort = decide(game, algorithm, settings)
    if algorithm == "alphabeta" and game != "tic_tac_toe":
        assert action == "refused"
        return
    legal = decision(game)[1]["legal"]
    assert isinstance(legal, list)
    assert action in legal
    assert (action, effort) == decide(game, algorithm, settings)
    if "simulations" in settings:
        assert effort["simulations_done"] == settings["simulations"]
    if algorithm == "osla":
        assert effort["simulations_done"] == len(legal)
    assert cast("int", effort["calls"]) > 0
    assert "seconds" not in effort


@pytest.mark.parametrize("game", ["tic_tac_toe", "goofspiel", "leduc_poker"])
@pytest.mark.parametrize("algorithm", [name for name in SEARCHES if name != "alphabeta"])
def test_budgets_of_calls_and_time_are_kept_and_reported(algorithm: str, game: str) -> None:
    settings = {key: value for key, value in SMALL[algorithm].items() if key != "simulations"}
    _, effort = decide(game, algorithm, settings | {"budget": "calls", "calls": 157})
    assert cast("int", effort["calls"]) <= 157
    assert cast("int", effort["simulations_done"]) > 0
    _, effort = decide(game, algorithm, settings | {"budget": "time", "seconds": 0.02})
    assert cast("float", effort["seconds"]) >= 0.019
    assert cast("int", effort["simulations_done"]) > 0


@pytest.mark.parametrize("algorithm", [*SEARCHES])
def test_settings_of_others_are_refused_by_name(algorithm: str) -> None:
    settings = SEARCHES[algorithm].settings
    for name in ("magic", *({"worlds", "population"} - settings.model_fields.keys())):
        with pytest.raises(ValueError, match=f"{name}\n.*[Ee]xtra inputs are not permitted"):
            settings.model_validate({name: 3})


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def score(observation, action): return 'much'", "required: a finite number"),
        ("def score(observation, action): return float('nan')", "required: a finite number"),
        ("def rate(observation, action): return 1.0", "must define score"),
        ("def score(:", "unreadable"),
    ],
)
def test_a_broken_heuristic_is_named(source: str, complaint: str) -> None:
    with pytest.raises(ModuleFault, match=complaint):
        scoring("mine", source)({}, "a")


def test_a_heuristic_cannot_change_what_it_sees() -> None:
    score = scoring("mine", "def score(seen, action):\n    seen['x'].append(1)\n    return 1.0")
    seen: dict[str, Json] = {"x": []}
    assert score(seen, "a") == 1.0
    assert seen == {"x": []}
