"""Every algorithm and every sampler that `rulewright players` lists plays a hidden game."""

from collections.abc import Mapping
from itertools import cycle, islice
from typing import Any

import pytest

from tests.app.conftest import Command

SEA = ("--set", "rows=3", "--set", "columns=3", "--set", 'ships="2"')
SMALL = {"simulations": 8, "passes": 1, "rollouts": 1, "worlds": 2, "iterations": 5}
SEARCHES = ("uct", "ismcts", "moismcts", "pimc", "flatmc", "osla", "halving", "rhea", "rmhc")
REFUSING = ("uct", "alphabeta", "cfr")
SAMPLERS = {"auto", "module", "exact", "replay", "particle", "constraint", "heatmap", "random"}
Listed = Mapping[str, Any]


def listed(command: Command) -> dict[str, Listed]:
    return {row["name"]: row["parameters"] for row in command("players", "--json").json["players"]}


def samplers(parameters: Listed) -> list[str]:
    return [name for name in parameters["belief"]["choices"] if name != "none"]


def small(name: str, parameters: Listed, **more: str) -> str:
    given = {key: value for key, value in SMALL.items() if key in parameters}
    return f"{name}:" + ",".join(f"{key}={value}" for key, value in (given | more).items())


def test_what_is_listed_is_what_is_tried_here(command: Command) -> None:
    found = listed(command)
    trained = {"ppo", "argmaxval", "gomcts"}  # tests/app/test_train.py and tests/agents/players
    assert {*found} == {"random", "greedy", "llm", "cwm", "gt", *trained, *SEARCHES, *REFUSING}
    for name in SEARCHES:
        assert {*samplers(found[name])} == SAMPLERS
    words = command("players").out
    assert "[auto, module, exact, replay, particle, constraint, heatmap, random]" in words


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_plays_battleship_with_every_sampler(command: Command, name: str) -> None:
    parameters = listed(command)[name]
    specs = [small(name, parameters, belief=belief) for belief in samplers(parameters)]
    for first, second in zip(specs[::2], specs[1::2], strict=True):
        done = command("match", "battleship", *SEA, "--player", first, "--player", second,
                       "--games", "2", "--json")  # fmt: skip
        assert done.code == 0, done.err
        assert done.json["endings"]["finished"] == 2, done.json["reasons"]
        assert [row["player"].split(":")[0] for row in done.json["entrants"]] == [name, name]
        for row in done.json["entrants"]:
            used = row["used"]
            assert used["words"]["algorithm"] == {name: used["decisions"]}
            assert sum(used["words"]["belief"].values()) == used["decisions"] > 0


def test_players_that_do_not_search_play_too(command: Command) -> None:
    done = command("match", "battleship", *SEA, "--player", "random", "--player", "greedy",
                   "--games", "2", "--json")  # fmt: skip
    assert (done.code, done.json["finished"]) == (0, 2)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("uct", ("perfect information", "use ismcts")),
        ("alphabeta", ("perfect information", "use ismcts")),
        ("cfr:histories=20000", ("histories, of 20000 allowed", "use ismcts", "smaller variant")),
        ("cfr:histories=100", ("more than 100 histories", "raise histories= (it has about")),
    ],
)
def test_a_player_that_cannot_play_refuses_in_one_sentence_with_what_to_do_next(
    command: Command, spec: str, words: tuple[str, ...]
) -> None:
    sea = ("battleship", *SEA)
    game = sea if spec != "cfr:histories=100" else ("leduc_poker",)
    done = command("match", *game, "--player", spec, "--player", "random")
    (said,) = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert done.code == 2
    assert all(word in said for word in words)
    assert ("raise histories=" in said) == ("raise histories= (it has about" in words)
    assert "Traceback" not in done.err


@pytest.mark.parametrize("game", ["capture_the_flag", "small_capture_the_flag", "whist"])
def test_hidden_ranks_and_hidden_hands_are_played_by_name(command: Command, game: str) -> None:
    seats = 4 if game == "whist" else 2
    few = ("ismcts:simulations=3", "osla:passes=1,rollouts=1")
    chosen = [argument for spec in islice(cycle(few), seats) for argument in ("--player", spec)]
    done = command("match", game, *chosen, "--games", "1", "--max-plies", "60", "--json")
    assert {*done.json["endings"]} == {"finished", "unfinished", "forfeit", "fault"}
    endings = done.json["endings"]
    assert endings["forfeit"] + endings["fault"] == 0, done.json["reasons"]
