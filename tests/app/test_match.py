"""What `rulewright match` counts and tells."""

import hashlib
from importlib.metadata import version
from pathlib import Path

import pytest

from agents.players.registry import PlayerRoster
from games import library
from games.engine import Match
from games.library import defaults, read_game
from games.streams import stream
from tests.app.conftest import Command, Outcome
from tools.playtest.intervals import wilson
from tools.playtest.jobs import GameSetup, MatchEntry, PlayerSpec, SandboxRecipe, entry_of
from tools.playtest.plan import MatchPlan
from tools.playtest.schedule import TournamentSettings, one_line_up
from tools.playtest.series import Series
from tools.replaying import Replayed

# Seat 0 always wins. A match is a card, dealt by chance, then one decision a seat.
FIRST_WINS = """
GAME = {"name": "first", "summary": "The first seat wins.", "min_players": 2, "max_players": 2,
        "parameters": {"stake": {"default": 1, "range": [1, 9], "meaning": "What is won."}}}
ZONES = {}


def initial_state(num_players, stake=1):
    return {"ply": 0, "card": "", "stake": stake}


def get_current_player(state):
    return [-1, 0, 1, -4][state["ply"]]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    return [["deal red", "deal black"], ["yes", "no"], ["yes", "no"], []][state["ply"]]


def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError(f"{action} is not legal")
    card = state["card"] or action.removeprefix("deal ")
    return {**state, "ply": state["ply"] + 1, "card": card}


def get_rewards(state):
    return [state["stake"], -state["stake"]] if state["ply"] == 3 else [0, 0]


def get_observations(state):
    return [{"seat": seat, "card": state["card"]} for seat in range(2)]


def get_events(state, action):
    return [[], []]


def visible(state, player_id):
    return {}
"""
RAISES_IN_THE_SECOND_SEAT = """
def score(observation, action):
    if observation["seat"] == 1{also}:
        raise RuntimeError("cannot sit here")
    return 1.0
"""


def folder_with(place: Path, heuristic: str) -> Path:
    (place / "players").mkdir(parents=True, exist_ok=True)
    (place / "game.py").write_text(FIRST_WINS)
    (place / "players" / "mine.py").write_text(heuristic)
    return place


def duel(command: Command, game: Path | str, *arguments: str | Path) -> Outcome:
    return command("match", game, "--player", "greedy", "--player", "random", *arguments)


def test_a_player_that_fails_in_the_losing_seat_has_lost_there(
    command: Command, tmp_path: Path
) -> None:
    game = folder_with(tmp_path, RAISES_IN_THE_SECOND_SEAT.format(also=""))
    done = duel(command, game, "--games", "20", "--json")
    result = done.json
    assert done.code == 0
    assert (result["finished"], result["endings"]["forfeit"]) == (10, 10)
    assert (result["scored"], result["left_out"]) == (20, 0)
    assert [row["forfeits"] for row in result["entrants"]] == [10, 0]
    for row in result["entrants"]:  # each wins in the first seat, as if nobody gave up
        assert (row["wins"], row["win_share"]["value"], row["win_share"]["n"]) == (10, 0.5, 20)
        assert row["not_estimated"].startswith("mean return")
        assert "mean_return" not in row
    first, second = result["matches"][:2]
    assert (first["deal"], first["ending"], first["culprit"], first["reason"]) == (
        0, "finished", None, "")  # fmt: skip
    assert (second["deal"], second["ending"], second["culprit"]) == (
        0, "forfeit", {"seat": 1, "entrant": 0})  # fmt: skip
    assert "cannot sit here" in second["reason"]
    assert result["reasons"] == {second["reason"]: 10}
    told = duel(command, game, "--games", "20")
    for words in (": 20 matches: 10 finished, 10 forfeit", "not estimated: mean return",
                  "forfeited 10 matches: lost", "10 times: "):  # fmt: skip
        assert words in told.out
    assert "left out" not in told.out


def test_a_game_that_fails_where_the_second_seat_lost_gives_no_result(
    command: Command, tmp_path: Path
) -> None:
    game = folder_with(tmp_path, "def score(observation, action):\n    return 1.0\n") / "game.py"
    rewards = "def get_rewards(state):\n"
    assert rewards in FIRST_WINS
    spoilt = f"{rewards}    if {{}} in str(state):\n        raise RuntimeError('not this one')\n"
    game.write_text(FIRST_WINS.replace(rewards, spoilt.format("'red'")))
    done = duel(command, tmp_path, "--games", "20", "--json")
    assert done.code == 1
    void = done.json["endings"]["fault"]
    assert 0 < void < 20
    assert done.json["no_result"].startswith(f"no result: in {void} of 20 matches the game failed")
    assert {row["not_estimated"] for row in done.json["entrants"]} == {done.json["no_result"]}
    again = command("tournament", game, "--player", "random", "--player", "osla", "--deals", "10")
    assert again.code == 1
    assert "no result: in " in again.out


def test_only_whole_deals_have_a_return(command: Command, tmp_path: Path) -> None:
    fails_on_red = RAISES_IN_THE_SECOND_SEAT.format(also=' and observation["card"] == "red"')
    game = folder_with(tmp_path, fails_on_red)
    result = duel(command, game, "--games", "40", "--set", "stake=3", "--json").json
    red = sum(match["actions"][0] == "deal red" for match in result["matches"]) // 2
    assert 0 < red < 20
    assert (result["left_out"], result["scored"]) == (0, 40)
    for row in result["entrants"]:
        assert (row["wins"], row["win_share"]["value"]) == (20, 0.5)
        assert (row["mean_return"]["value"], row["mean_return"]["n"]) == (0, 20 - red)
        half = wilson((20 - red) / 2, 20 - red, "matches")  # of what lies between -3 and 3
        ends = row["mean_return"]["low"], row["mean_return"]["high"]
        assert ends == pytest.approx((6 * half.low - 3, 6 * half.high - 3))


def test_one_deal_has_a_share_but_no_interval_of_its_return(command: Command) -> None:
    done = command("match", "tic_tac_toe", "--player", "random", "--player", "greedy", "--json")
    for row in done.json["entrants"]:
        assert row["win_share"]["n"] == 2
        assert "mean_return" not in row
        assert row["not_estimated"].startswith("mean return (1 sample;")


def test_it_says_of_the_same_matches_what_a_tournament_says(command: Command) -> None:
    players = ("leduc_poker", "--player", "greedy", "--player", "random", "--seed", "3", "--json")
    match = command("match", *players, "--games", "24").json
    tournament = command("tournament", *players, "--deals", "12").json
    assert (match["played"], match["endings"]) == (tournament["matches"], tournament["endings"])
    for row, standing in zip(match["entrants"], tournament["standings"], strict=True):
        assert row["player"] == standing["name"]
        assert row["win_share"] == standing["win_rate"]
        assert row["mean_return"] == standing["mean_return"]
        assert row["used"] == standing["used"]
    for name in ("game", "source_id", "heuristics", "parameters", "left_out", "reasons"):
        assert match[name] == tournament[name]


def test_the_interval_of_a_return_holds_where_the_card_pays_both_seats() -> None:
    # Every deal pays the same at both its seatings; the mean over deals is 0.
    held = 0
    for seed in range(300):
        cards = stream(seed, "test").normal(size=30)
        tables = _series([(card, card) for card in cards], seed).tables
        estimate = tables.mean_return(0)
        assert estimate.n == 30
        held += estimate.low <= 0 <= estimate.high
    assert held / 300 > 0.90  # taken as 60 independent matches, about 0.83


def test_results_say_what_was_played(command: Command, tmp_path: Path) -> None:
    heuristic = RAISES_IN_THE_SECOND_SEAT.format(also=" and False")
    game = folder_with(tmp_path, heuristic)
    done = duel(command, game, "--games", "5", "--json")
    result = done.json
    assert (result["asked"], result["played"], len(result["matches"])) == (5, 6, 6)
    assert "6 matches instead of 5" in done.err
    assert result["parameters"] == {"stake": 1}
    assert duel(command, game, "--set", "stake=2", "--json").json["parameters"] == {"stake": 2}
    assert result["source_id"] == hashlib.sha256(FIRST_WINS.encode()).hexdigest()
    assert result["heuristics"] == {"mine": hashlib.sha256(heuristic.encode()).hexdigest()}
    assert result["versions"]["rulewright"] == version("rulewright")
    assert {"python", "numpy"} <= result["versions"].keys()
    leduc = command("match", "leduc_poker", "--player", "random", "--player", "random", "--json")
    declared = defaults(read_game(library.source("leduc_poker")))
    assert leduc.json["parameters"] == declared


@pytest.mark.parametrize("changed", ["heuristic", "parameter", "module"])
def test_a_journal_of_another_game_is_refused(
    command: Command, tmp_path: Path, changed: str
) -> None:
    heuristic = RAISES_IN_THE_SECOND_SEAT.format(also=" and False")
    game, journal = folder_with(tmp_path / "run", heuristic), tmp_path / "journal.jsonl"
    assert duel(command, game, "--games", "4", "--journal", journal).code == 0
    before = journal.read_bytes()
    arguments: tuple[str, ...] = ()
    if changed == "heuristic":
        folder_with(game, heuristic.replace("1.0", "-1.0"))
    elif changed == "module":
        (game / "game.py").write_text(FIRST_WINS + "\n")
    else:
        arguments = ("--set", "stake=2")
    done = duel(command, game, "--games", "8", "--journal", journal, *arguments)
    named = {
        "heuristic": "heuristics ",
        "parameter": "parameters stake: 1 ",
        "module": "source_id: ",
    }
    assert done.code == 2
    assert f"{journal} belongs to other work ({named[changed]}" in done.err
    assert journal.read_bytes() == before


def test_its_journal_is_the_same_side_by_side(command: Command, tmp_path: Path) -> None:
    arguments = ("leduc_poker", "--player", "random", "--player", "ismcts:simulations=10",
                 "--games", "12", "--seed", "5", "--json")  # fmt: skip
    one, three = tmp_path / "one.jsonl", tmp_path / "three.jsonl"
    first = command("match", *arguments, "--journal", one)
    assert command("match", *arguments, "--journal", three, "--jobs", "3").out == first.out
    assert three.read_bytes() == one.read_bytes()


def _series(paid: list[tuple[float, float]], seed: int) -> Series:
    """Two entrants who change seats within a deal; `paid` is what each rotation paid both."""
    players = tuple(PlayerSpec(player=name, settings={}) for name in ("a", "b"))
    settings = TournamentSettings(deals=len(paid), seed=seed)
    game = GameSetup("x", "", 2)
    plan = MatchPlan(
        game, players, settings, PlayerRoster(), one_line_up(["a", "b"]), SandboxRecipe()
    )
    amounts = [amount for deal in paid for amount in deal]
    matches = [Match("finished", (pay, pay), (), None, ()) for pay in amounts]
    entries = {i: MatchEntry.model_validate(entry_of(m)) for i, m in enumerate(matches)}
    return Series(plan, entries, Replayed())


def test_progress_is_told_to_the_last_match(command: Command) -> None:
    players = ("--player", "random") * 2
    done = command("match", "tic_tac_toe", *players, "--games", 12)
    assert "10 of 12 matches\n12 of 12 matches\n" in done.err


def test_a_crew_of_random_players_succeeds_as_often_as_in_a_simulation_of_its_own(
    command: Command,
) -> None:
    """Mission 1 with four players: 6,360 of 20,000 deals of `tests.games.library.crew_floors`."""
    done = command("match", "the_crew", *["--player", "random"] * 4, "--games", 200, "--json")
    for entrant in done.json["entrants"]:
        assert entrant["mean_return"]["n"] == 200
        assert entrant["mean_return"]["low"] < 6360 / 20_000 < entrant["mean_return"]["high"]
