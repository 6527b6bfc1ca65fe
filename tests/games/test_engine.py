import json
from collections.abc import Sequence

import numpy as np
import pytest

from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import Decision, Effort, Match, play_match, sample_index
from games.information import SeatLog, information_key, own_turns
from games.library import UnknownParameterError, defaults, read_game, specialise
from games.modules import LocalModule
from games.records import MatchRecord, json_line, to_text
from games.streams import stream
from games.table import GameTable
from games.trajectories import IncompleteMatchError, open_deck
from games.values import Action, Json, ModuleFault
from tests.games.checks.test_checks import SOUND
from tests.games.scripted import Scripted


def table(source: str = SOUND) -> GameTable:
    return GameTable(Game(LocalModule(source)))


def play(*scripts: Scripted, seed: int = 4) -> Match:
    return play_match(table(), list(scripts), parameters={}, seed=seed)


def test_a_finished_match_pays_the_sum_of_its_rewards() -> None:
    match = play(Scripted("bid 2"), Scripted("bid 1"))
    assert match.ending == "finished"
    # Two bids of 2 and 1: the higher card wins their sum, the other loses it.
    assert match.returns is not None
    assert sorted(match.returns) == [-3.0, 3.0]


def test_a_small_pay_is_not_lost_beside_a_large_one_that_is_paid_back() -> None:
    """The loser is lent a million million at the deal, which every float near it rounds."""
    lent = (
        SOUND
        + """
_paid = get_rewards

def get_rewards(state):
    plies = len(state["hands"][0]) + len(state["hands"][1]) + len(state["bids"])
    lent = {1: 1e12, 3: -1e12}.get(plies, 0)
    return [one * 0.00001 + lent for one in _paid(state)]
"""
    )
    players = [Scripted("bid 2"), Scripted("bid 1")]
    match = play_match(GameTable(Game(LocalModule(lent))), players, parameters={}, seed=4)
    assert match.returns is not None
    assert sorted(match.returns) == pytest.approx([-0.00003, 0.00003])


def test_the_same_seed_deals_the_same_cards_and_another_match_others() -> None:
    def deal(match: int) -> list[str]:
        played = play_match(
            table(), [UniformPlayer(), UniformPlayer()], parameters={}, seed=5, match=match
        )
        return [ply.action for ply in played.plies[:2]]

    assert deal(1) == deal(1)
    assert len({tuple(deal(index)) for index in range(12)}) > 3


def test_no_player_is_shown_another_hand() -> None:
    first, second = Scripted("bid 1"), Scripted("bid 1")
    match = play(first, second)
    hands = [ply.action.split()[1] for ply in match.plies[:2]]
    assert f"'{hands[1]}'" not in "".join(first.seen)
    assert f"'{hands[0]}'" not in "".join(second.seen)


def test_an_illegal_choice_forfeits_and_names_the_seat() -> None:
    match = play(Scripted("bid 1"), Scripted("bid 9"))
    assert (match.ending, match.culprit, match.returns) == ("forfeit", 1, None)
    assert "bid 9" in match.reason


def test_a_long_illegal_choice_is_quoted_in_short() -> None:
    assert len(play(Scripted("x" * 10**6), Scripted()).reason) < 200


def test_a_player_that_cannot_choose_forfeits() -> None:
    assert play(Scripted(), Scripted()).ending == "forfeit"


def test_the_ply_limit_leaves_a_match_unfinished_without_returns() -> None:
    match = play_match(
        table(), [UniformPlayer(), UniformPlayer()], parameters={}, seed=0, max_plies=3
    )
    assert (match.ending, match.returns, len(match.plies)) == ("unfinished", None, 3)


def test_a_module_that_crashes_ends_the_match_with_the_line() -> None:
    source = SOUND.replace("total = float(sum(", "total = 1 / 0 + float(sum(")
    match = play_match(table(source), [UniformPlayer(), UniformPlayer()], parameters={}, seed=0)
    assert match.ending == "fault"
    assert match.fault_line == 1 + source[: source.index("1 / 0")].count("\n")


def test_a_repeated_observation_without_events_adds_nothing() -> None:
    log = SeatLog(0)
    log.see({"hand": []}, [])
    log.see({"hand": []}, [])
    log.see({"hand": []}, ["a card is dealt"])
    assert len(log.entries) == 2


def test_own_turns_pair_what_was_seen_with_what_was_done() -> None:
    log = SeatLog(1)
    log.see({"n": 1}, [])
    log.act("a")
    log.see({"n": 2}, [])
    assert own_turns(log) == [({"n": 1}, "a"), ({"n": 2}, None)]
    assert information_key(log) != information_key(SeatLog(1))


@pytest.mark.parametrize("seat", [0, 1])
def test_every_seat_remembers_what_it_did(seat: int) -> None:
    class Keeping(Scripted):
        log = SeatLog(0)

        def choose(
            self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
        ) -> Decision:
            self.log = log
            return super().choose(log, legal, generator)

    players = Keeping("bid 2"), Keeping("bid 1")
    play(*players)
    done = [action for _, action in own_turns(players[seat].log) if action is not None]
    assert done == [("bid 2", "bid 1")[seat]]


def test_what_rounding_leaves_uncovered_is_the_last_outcome() -> None:
    tenths = [0.1] * 10
    assert sum(tenths) == 1 - 2**-53  # so that no uniform number below 1 lies above it
    assert sample_index(tenths, 1 - 2**-53) == 9


def test_streams_differ_by_purpose_match_seat_and_ply() -> None:
    first = stream(1, "chance").random()
    others = [
        stream(1, "player"),
        stream(2, "chance"),
        stream(1, "chance", match=1),
        stream(1, "chance", seat=0),
        stream(1, "chance", ply=1),
    ]
    assert first not in [float(other.random()) for other in others]


def record() -> MatchRecord:
    match = play(Scripted("bid 2"), Scripted("bid 1"))
    return MatchRecord("high card", {}, ("one", "two"), 4, 0, match)


def test_a_record_has_a_line_for_its_heading_every_ply_and_its_result() -> None:
    lines = [json.loads(line) for line in json_line(record()).splitlines()]
    assert len(lines) == 2 + len(record().match.plies)
    assert lines[0]["players"] == ["one", "two"]
    assert [line["action"] for line in lines[1:-1]] == list(record().actions)
    assert lines[-1]["ending"] == "finished"
    assert "state" not in lines[1]


def test_a_record_reads_as_text_with_what_each_seat_saw() -> None:
    text = to_text(record())
    for part in ("seat 0: one", "sees", "legal  bid 1, bid 2", "does   bid 2", "pays", "returns:"):
        assert part in text


def test_open_deck_transitions_lead_from_state_to_state() -> None:
    match = record().match
    transitions = open_deck(match)
    assert len(transitions) == len(match.plies)
    for earlier, later in zip(transitions, transitions[1:], strict=False):
        assert earlier.next_state == later.state
    assert transitions[-1].next_state == match.final_state


def test_a_match_that_never_started_gives_no_transitions() -> None:
    source = SOUND.replace("def initial_state(num_players", "def initial_state(num")
    broken = source.replace('return {"hands": [[], []]', 'return 1 / 0, {"hands": [[], []]')
    match = play_match(table(broken), [UniformPlayer()] * 2, parameters={}, seed=0)
    with pytest.raises(IncompleteMatchError):
        open_deck(match)


def test_specialising_changes_defaults_and_nothing_else() -> None:
    source = library.source("tic_tac_toe")
    made = specialise(
        source, name="four", summary="On four by four.", num_players=2, parameters={"size": 4}
    )
    assert defaults(read_game(made))["size"] == 4
    assert made[made.index("\ndef ") :] == source[source.index("\ndef ") :]


def test_an_unknown_parameter_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownParameterError, match="size"):
        specialise(
            library.source("tic_tac_toe"), name="x", summary="", num_players=2, parameters={"q": 1}
        )


def test_an_unknown_game_is_refused_with_the_known_ones() -> None:
    with pytest.raises(library.UnknownGameError, match="tic_tac_toe"):
        library.source("no_such_game")


def test_a_source_that_does_not_parse_names_its_line() -> None:
    with pytest.raises(ModuleFault, match="line 2"):
        LocalModule("x = 1\ndef f(:\n")


def test_what_a_decision_used_is_read_again_and_figures_of_another_kind_are_refused() -> None:
    row: dict[str, Json] = {"algorithm": "uct", "simulations_done": 9, "exploration": 1.4}
    effort = Effort.of(row)
    assert (effort.algorithm, effort.simulations_done, effort.fallback) == ("uct", 9, None)
    assert effort.more == {"exploration": 1.4}
    assert effort.row() == row
    assert Effort().row() == {}
    for wrong in ({"simulations_done": "9"}, {"simulations_done": True}, {"belief": 1}):
        with pytest.raises(ValueError, match="required: (int|str)"):
            Effort.of(wrong)
