"""Self-play of a population: what is trained, kept, gone on with, and refused."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from fcntl import LOCK_EX, flock
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from agents.encoding.vocabulary import END, MOVE
from agents.learning.policy import META
from agents.learning.settings import LearningError
from agents.observing.budget import TokenBudget, begun_token_budget, token_budget
from agents.observing.experience import Experience, Replay, drawn_logs, read_logs
from agents.observing.following import LogFollower
from agents.observing.model import ObservationModel, ObservationSettings, read_observation_model
from agents.observing.outcomes import OutcomeTable
from agents.observing.population import SelfPlayTraining
from agents.observing.selfplay import Cast, ExploringPlayer, PopulationPlayer, matches_of_play
from agents.players.specs import PlayerSpecError, require_suited
from games import library
from games.information import Did, SeatLog, Seen
from games.streams import Uniforms, stream
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

KUHN = GameSetup("kuhn_poker", library.source("kuhn_poker"), 2)
QUICK = ObservationSettings(iterations=1, batch=256, learning_rate=0.005)
Trained = Callable[..., ObservationModel]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def trained(
    sandbox: Sandbox, folder: Path, settings: ObservationSettings = QUICK
) -> SelfPlayTraining:
    return SelfPlayTraining(sandbox, KUHN, settings, 60_000, 7, folder)


@pytest.fixture(scope="module")
def model(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("population")
    return folder, trained(sandbox, folder).train({}).saved()


def test_the_same_seed_gives_the_same_bytes_and_a_stopped_training_goes_on_to_them(
    sandbox: Sandbox, model: tuple[Path, bytes], tmp_path: Path
) -> None:
    folder, expected = model
    begun = tmp_path / "begun"
    begun.mkdir()
    for name in ("0.model", "0.logs"):  # as it stands where it was killed in the next iteration
        (begun / name).write_bytes((folder / name).read_bytes())
    (begun / "1.logs").write_bytes(b"half")
    (begun / "1.part").write_bytes(b"half")
    assert trained(sandbox, begun).train({}).saved() == expected


def test_random_play_goes_on_until_it_met_two_outcomes(sandbox: Sandbox, tmp_path: Path) -> None:
    """Mission 4 of The Crew seldom succeeds; for one token sixteen matches would do."""
    crew = GameSetup("the_crew", library.source("the_crew"), 4, {"mission": 4})
    _, _, paid = SelfPlayTraining(sandbox, crew, QUICK, 1, 1, tmp_path)._random_play()
    assert len(paid) > 16
    assert len({*paid}) == 2


def test_two_trainings_do_not_write_to_one_folder(sandbox: Sandbox, tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb") as lock:
        flock(lock, LOCK_EX)
        with pytest.raises(LearningError, match="another training writes to"):
            trained(sandbox, tmp_path).train({})


def test_a_learner_that_always_explores_is_trained_too(sandbox: Sandbox, tmp_path: Path) -> None:
    settings = QUICK.model_copy(update={"explore": 1.0, "iterations": 2})
    found = SelfPlayTraining(sandbox, KUHN, settings, 30_000, 7, tmp_path / "always").train({})
    assert [row["iteration"] for row in found.about["course"]] == [0, 1, 2]


@pytest.mark.parametrize(("lengths", "acts"), [((), 1), ((1,), 2)], ids=["learner", "explorer"])
def test_an_explorer_draws_where_a_learner_takes_the_best(
    sandbox: Sandbox, model: tuple[Path, bytes], lengths: tuple[int, ...], acts: int
) -> None:
    """At Kuhn poker's first turn there are two actions, and one card to choose by."""
    learner = PopulationPlayer(read_observation_model(str(model[0] / "1.model")), greedy=0.01)
    player = ExploringPlayer(learner, lengths) if lengths else learner
    chosen: dict[str, set[str]] = defaultdict(set)
    played = matches_of_play(
        sandbox, KUHN, lambda _: (player, player), range(120), seed=3, max_plies=20
    )
    for _, logs, _ in played:
        entries = logs[0].entries
        first = next(place for place, entry in enumerate(entries) if isinstance(entry, Did))
        assert isinstance(did := entries[first], Did)
        assert isinstance(seen := entries[first - 1], Seen)
        chosen[repr(seen.observation)].add(did.action)
    assert len(chosen) == 3
    assert {len(one) for one in chosen.values()} == {acts}


def test_where_all_are_paid_alike_one_seat_explores_and_the_others_show_how_to_act(
    model: tuple[Path, bytes],
) -> None:
    newest = read_observation_model(str(model[0] / "1.model"))
    shared = replace(newest, outcomes=newest.outcomes.model_copy(update={"shared": True}))
    cast = Cast.of(
        *([shared], 2),
        threshold=0.01,
        explore=0.5,
        lengths=[2],
        drawn=lambda match: stream(7, "population", match=match),
    )
    exploring = [match for match in range(8) if cast.explores(match)]
    assert len(exploring) == 4
    log = Experience([0, 300, MOVE, 301, 302, MOVE, 303, END], 1)
    for match in range(8):
        parts = []
        for seat, player in enumerate(cast.seated(match)):
            explores = match in exploring and seat == match % 2
            assert isinstance(player, ExploringPlayer) == explores
            numbers = Uniforms.of(7, "player", match=match, seat=seat)
            parts.append((cast.explored(log, match, seat, numbers).part, explores))
        assert all(part == ("sights" if explores else "all") for part, explores in parts)
        assert cast.learning(match) == range(2)


@pytest.mark.parametrize(("replay", "first", "acts"), [("mixed", 0.5, 0), ("all", 0, 0.25)])
def test_what_is_replayed(replay: Replay, first: float, acts: float) -> None:
    """With mixed all of any iteration; else a quarter, from any, shows how to act."""
    iterations = [[Experience([0, 300, MOVE, 301, END], which)] for which in (0, 1)]
    generator = np.random.default_rng(0)
    found = drawn_logs(iterations, generator, 20_000, replay)
    alone = sum(one.part == "acts" for one in found) / len(found)
    assert alone == pytest.approx(acts, abs=0.01)
    own = [one for one in found if one.part != "acts"]
    early = sum(one.outcome == 0 for one in own) / len(own)
    assert early == pytest.approx(first, abs=0.05)


def test_a_file_from_before_tokens_took_of_those_before_them_is_the_same_model(
    model: tuple[Path, bytes], tmp_path: Path
) -> None:
    arrays = load(model[1])
    meta = json.loads(arrays[META].tobytes())
    arrays.pop("before")
    text = json.dumps({**meta, "format": "observations 2"}).encode()
    path = tmp_path / "earlier.model"
    path.write_bytes(save({**arrays, META: np.frombuffer(text, np.uint8)}))
    found = read_observation_model(str(path)).transformer.weights
    assert not found["before"].any()
    assert found.keys() == {*arrays, "before"} - {META}


def test_shares_of_one_loss_are_at_most_all_of_it() -> None:
    with pytest.raises(ValueError, match=r"outcome_share is 0.5 and action_share 0.6; required"):
        ObservationSettings(action_share=0.6)


def test_what_comes_after_the_last_drawn_action_tells_of_it_alone() -> None:
    # Tokens: start, a sight, turn, action, a sight, turn, action, end.
    log = Experience([0, 300, MOVE, 301, 302, MOVE, 303, END], 4, "sights", since=6)
    assert log.act(1) == 6
    assert log.outcomes.tolist() == [-1, -1, -1, -1, -1, -1, 4]
    assert log.targets.tolist() == [300, MOVE, -1, 302, MOVE, -1, END]
    assert replace(log, part="acts").targets.tolist() == [-1, -1, 301, -1, -1, 303, -1]


def test_a_folder_of_another_training_is_refused(
    sandbox: Sandbox, model: tuple[Path, bytes]
) -> None:
    other = ObservationSettings(iterations=2)
    with pytest.raises(LearningError, match="--force"):
        trained(sandbox, model[0], other).train({})


def test_learning_beats_guessing(model: tuple[Path, bytes]) -> None:
    """Two nats less than a uniform guess among all tokens costs, after a second of training."""
    of = read_observation_model(str(model[0] / "1.model"))
    row = of.about["course"][0]
    assert row["held_out_next"] < np.log(of.vocabulary.size) - 2
    assert row["play"] == "random"
    # Of two actions at each turn random play takes one: ln 2 is what nobody can know better.
    assert row["held_out_action"] == pytest.approx(np.log(2), abs=0.05)


def damaged(raw: bytes, how: str) -> bytes:
    arrays = load(raw)
    meta = json.loads(arrays[META].tobytes())
    if how == "of another form":
        meta["format"] = "observations 0"
    elif how == "of absurd sizes":
        meta["shape"]["context"] = 10**9
    elif how == "of other words":
        meta["vocabulary"]["words"] = []
    else:
        arrays["norm"][0, 0] = np.nan
    text = json.dumps(meta).encode()
    return save({**arrays, META: np.frombuffer(text, np.uint8)})


@pytest.mark.parametrize(
    "how", ["of another form", "of absurd sizes", "of other words", "with what is no number"]
)
def test_a_damaged_file_is_refused(model: tuple[Path, bytes], tmp_path: Path, how: str) -> None:
    path = tmp_path / "damaged.model"
    path.write_bytes(damaged(model[1], how))
    with pytest.raises(LearningError, match="no model of 'rulewright train --player gomcts'"):
        read_observation_model(str(path))
    path.write_bytes(model[1][:1000])
    with pytest.raises(LearningError, match="is damaged"):
        read_observation_model(str(path))


def test_outcomes_are_worth_what_the_paper_says() -> None:
    """Eq. 4: the own result less the mean of the others', over the largest one; then by seat."""
    found = OutcomeTable.of([(3.0, 0.0, 0.0), (0.0, 2.0, 1.0)])
    assert not found.shared
    assert found.scale == 3.0
    number = found.number((0.0, 2.0, 1.0), 1)  # seat 1 has 2, the others 1 and 0: 1.5 more
    assert found.values[number] == pytest.approx(0.5)
    together = OutcomeTable.of([(4.0, 4.0), (2.0, 2.0)])
    assert together.shared
    assert sorted(together.values) == [0.5, 1.0]
    assert together.number((3.0, 3.0), 0) == -1  # never seen


def test_many_outcomes_are_binned_and_the_error_is_told() -> None:
    paid = [(float(n), -float(n)) for n in range(400)]
    found = OutcomeTable.of(paid)
    assert not found.returns
    assert len(found.values) <= 64
    errors = [abs(found.values[found.number(one, 0)] - one[0] / 399) for one in paid]
    assert max(errors) < 0.05
    assert 0 < found.error < 0.02


def test_a_game_with_one_outcome_cannot_be_learned() -> None:
    with pytest.raises(LearningError, match="two outcomes"):
        OutcomeTable.of([(0.0, 0.0)] * 9)


def test_a_follower_gives_a_log_what_the_whole_log_gives(model: tuple[Path, bytes]) -> None:
    of = read_observation_model(str(model[0] / "1.model"))
    seen = Seen.of({"hand": "K"})
    log = SeatLog(0, [seen])
    follower = LogFollower(of, 1)
    follower.turns([log])
    log.entries += [Did("bet"), Seen.of({"hand": "K", "pot": 3})]
    _, grown = follower.turns([log])
    _, whole = LogFollower(of, 1).turns([SeatLog(0, [*log.entries])])
    assert np.allclose(grown, whole, atol=1e-4)
    assert follower.tokens(log).count(MOVE) == 1
    assert END not in follower.tokens(log)


def test_a_log_beyond_the_context_is_told_with_its_length(model: tuple[Path, bytes]) -> None:
    of = read_observation_model(str(model[0] / "1.model"))
    log = SeatLog(0, [Seen.of({"text": "x" * 9 * of.transformer.shape.context})])
    with pytest.raises(ValueError, match="the model's context holds"):
        LogFollower(of, 1).turns([log])


def test_minutes_become_tokens_once(sandbox: Sandbox, tmp_path: Path) -> None:
    made = token_budget(sandbox, KUHN, QUICK, tmp_path, seed=3, tokens=0, minutes=0.5)
    assert made.minutes == 0.5
    assert made.tokens == int(float(f"{made.tokens:.2g}")) > 0
    assert begun_token_budget(tmp_path) == made
    (tmp_path / "budget.json").write_text("{}")
    with pytest.raises(LearningError, match="damaged"):
        begun_token_budget(tmp_path)
    assert begun_token_budget(tmp_path / "elsewhere") is None
    assert TokenBudget(tokens=5, seed=1).told == "5 tokens"


def test_a_model_of_several_parameters_plays_each_of_them_and_no_other(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    def piles(cards: int) -> GameSetup:
        return GameSetup("goofspiel", library.source("goofspiel"), 2, {"cards": cards})

    settings = ObservationSettings(iterations=0, batch=256)
    varied = [piles(cards).parameters for cards in (2, 3)]
    training = SelfPlayTraining(*(sandbox, piles(4), settings, 3_000, 7, tmp_path), varied=varied)
    about = training.train({}).about
    for cards in (2, 3):
        require_suited("a.model", about, piles(cards))
    with pytest.raises(PlayerSpecError, match="cards=2 or cards=3, and this is cards=4"):
        require_suited("a.model", about, piles(4))  # the game's own, which was never played
    lengths = {one.decisions for one in read_logs(tmp_path / "0.logs")}
    assert lengths in ({2, 3}, {1, 2})  # one card a round; a last one may be forced
