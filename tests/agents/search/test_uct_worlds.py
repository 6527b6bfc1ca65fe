import numpy as np
import pytest

from agents.search.settings import SearchResult, SearchView
from agents.search.uct import UctSettings, agreed, decide
from agents.worker.session import choose
from games.information import entry_rows
from games.values import Json, State
from tests.agents.belief.logs import logs_of
from tests.agents.belief.posteriors import library_game, random_match
from tests.agents.small_games import KUHN, game


def found(means: list[float | None], visits: list[int], actions: str = "abc") -> SearchResult:
    return SearchResult(tuple(actions), tuple(visits), tuple(means), sum(visits), 4, 1, calls=10)


def test_the_search_is_given_one_determinization_after_another_and_its_share() -> None:
    rules, _, start = game(KUHN)
    worlds = iter([["Q", "J"], ["Q", "K"]])
    drawn: list[Json] = []

    def determinize() -> State:
        drawn.append([*next(worlds)])
        return {**start, "deck": [], "hands": drawn[-1], "bets": ""}

    view = SearchView(rules, 0, determinize, worlds=2)
    result = decide(view, UctSettings(simulations=9), np.random.default_rng(0))
    assert drawn == [["Q", "J"], ["Q", "K"]]
    assert sum(result.visits) == result.simulations == 9  # five and four
    assert result.effort()["worlds"] == 2


def test_ranks_keep_one_large_return_from_outvoting_the_other_determinizations() -> None:
    # Means prefer c (100 / 3), visits a (90); b is second, first and first: best on average.
    results = [
        found([3.0, 2.0, 1.0], [80, 10, 10]),
        found([0.0, 2.0, 1.0], [5, 3, 2]),
        found([0.0, 120.0, 100.0], [5, 3, 2]),
    ]
    assert agreed(results).best == "b"


def test_an_action_never_tried_stands_below_all_that_were() -> None:
    results = [found([-5.0, None, -6.0], [1, 0, 1]), found([-5.0, None, -6.0], [1, 0, 1])]
    assert agreed(results).best == "a"


def test_determinizations_with_other_actions_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in what is legal"):
        agreed([found([1.0], [1], "a"), found([1.0], [1], "b")])


def ask(
    name: str, parameters: dict[str, Json], log: list[Json], legal: list[str], **more: Json
) -> dict[str, Json]:
    _, namespace, _ = library_game(name, parameters)
    search: dict[str, Json] = {"simulations": 60}
    reply = choose(
        namespace,
        {
            **{"seat": 0, "num_players": 2, "parameters": parameters, "words": [1]},
            **{"entries": log, "legal": [*legal], "search": search, "determinizations": 6},
            **more,
        },
    )
    assert isinstance(reply, dict)
    assert reply["action"] in legal
    effort = reply["effort"]
    assert isinstance(effort, dict)
    return effort


@pytest.mark.parametrize("belief", ["constraint", "heatmap", "particle", "random", "module"])
def test_uct_plays_battleship_with_any_belief(belief: str) -> None:
    sea: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}
    rules, _, start = library_game("battleship", sea)
    for log, legal in random_match(rules, start, 0, seed=3)[1:8:2]:
        effort = ask(
            "battleship", sea, [*entry_rows(log.entries)], legal, algorithm="uct", belief=belief
        )
        assert str(effort["belief"]).removeprefix("resample_state") == belief.removeprefix("module")
        assert (effort["worlds"], effort["simulations_done"]) == (6, 60)
        assert (effort["combined_by"], effort["determinizations"]) == ("ranks", 6)


def test_a_king_is_called_with_and_a_jack_is_folded_by_a_search_that_needs_to_know_all() -> None:
    rules, namespace, start = game(KUHN)
    for card, expected in (("K", "b"), ("J", "p")):
        log = logs_of(rules, start, ["deal Q", f"deal {card}", "b"])[1]
        reply = choose(
            namespace,
            {
                **{
                    "seat": 1,
                    "num_players": 2,
                    "parameters": {},
                    "words": [1],
                    "legal": ["p", "b"],
                },
                **{
                    "algorithm": "uct",
                    "search": {"simulations": 60},
                    "entries": [*entry_rows(log.entries)],
                },
                **{"belief": "particle", "determinizations": 4},
            },
        )
        assert isinstance(reply, dict)
        assert reply["action"] == expected
