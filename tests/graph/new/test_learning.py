"""Learning from self-play, in a game whose best play is known by counting."""

import pytest

from graph.new.playing import learned_players, measured, play_of_run, what_learning_brought
from graph.run.folder import RunFolder
from tests.graph.conftest import MakeContext
from tests.graph.new.test_playtest import RIVALS, SUMS
from tests.graph.running import start_run
from tests.graph.settings import SMALL

LEARNING = SMALL.model_copy(
    update={"learn_tokens": 20_000, "ladder_matches": 24, "quick": True, "large_budget": 0}
)


def test_a_player_that_learned_joins_the_ladder_and_the_report_says_what_it_is_worth(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context, heard = make_context(settings=LEARNING), list[object]()
    players, remark = learned_players(context, RIVALS, 2, folder, heard.append)
    written = (folder.path / "players/learned-2.model").read_bytes()
    assert "20,000 tokens" in remark
    assert heard
    evaluation = measured(
        play_of_run(context, RIVALS, 2, folder, learned=players), [], "ours"
    ).evaluation
    # Whoever names the larger sum wins, so 3 is better than any other number.
    told = what_learning_brought(evaluation, players)
    assert evaluation.players[0] == "random"
    assert "argmaxval against random: " in told[0]
    assert "learning helped" in told[0]

    unmeasured = evaluation.model_copy(update={"ladder": ()})
    assert "could not be told" in what_learning_brought(unmeasured, players)[1]

    heard.clear()  # what was trained once is taken as it is
    assert learned_players(context, RIVALS, 2, folder, heard.append) == (players, remark)
    assert not heard
    assert (folder.path / "players/learned-2.model").read_bytes() == written


def test_a_run_that_learns_ends_with_both_players_and_a_word_on_them(
    make_context: MakeContext, folder: RunFolder
) -> None:
    settings = LEARNING.model_copy(update={"learn_tokens": 4_000, "ladder_matches": 4})
    ended = start_run("noughts and crosses", folder, make_context(settings=settings)).state
    assert ended.evaluation is not None
    names = {spec.partition(":")[0] for spec in ended.evaluation.players}
    assert {"argmaxval", "gomcts"} <= names
    assert "4,000 tokens" in " ".join(ended.evaluation.notes)


def test_another_amount_trains_anew(make_context: MakeContext, folder: RunFolder) -> None:
    for tokens in (2_000, 3_000):
        settings = LEARNING.model_copy(update={"learn_tokens": tokens})
        context = make_context(settings=settings)
        _, remark = learned_players(context, RIVALS, 2, folder, lambda _: None)
        assert f"{tokens:,} tokens" in remark


BROKEN = RIVALS.replace('return {"said": state', 'return {"said": 1 / 0 or state')


@pytest.mark.parametrize(
    ("source", "why"),
    [(SUMS.replace("PAYS", "[1.0, 1.0]"), "paid the same"), (BROKEN, "failed in 16 of 16")],
    ids=["paid alike", "broken"],
)
def test_where_nothing_can_be_learned_the_play_test_goes_on_and_says_so(
    source: str, why: str, make_context: MakeContext, folder: RunFolder
) -> None:
    context = make_context(settings=LEARNING)
    players, remark = learned_players(context, source, 2, folder, lambda _: None)
    assert players == ()
    assert "Nothing was learned" in remark
    assert why in remark
