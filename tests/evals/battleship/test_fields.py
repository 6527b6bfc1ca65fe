import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evals.battleship.fields import Amount, Field, play_field
from evals.battleship.playing import Contestant, View
from evals.battleship.shooters import Uniform, uniform
from evals.options import EvalOptions
from evals.results import EvalError


class Dying(Uniform):
    """Ends its process after a while, as a machine that is switched off would."""

    shots = 0

    def shoot(self, view: View) -> int:
        Dying.shots += 1
        if Dying.shots > 600:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().shoot(view)


def field(maker: type[Uniform] = Uniform, **effective: int) -> Field:
    watcher = Contestant("watcher", maker, {"player": "random", **effective}, looks=True)
    return Field("test", 5, (uniform(), watcher), {"rules": "default"})


AMOUNT = Amount(solos=12, duels=12)


def told(line: str) -> None:
    assert line


def test_a_run_that_was_killed_goes_on_and_ends_in_the_same_bytes(tmp_path: Path) -> None:
    whole = play_field(field(), AMOUNT, EvalOptions(folder=tmp_path / "whole"), told)
    code = (
        "from pathlib import Path;from tests.evals.battleship.test_fields import *;"
        f"options = EvalOptions(folder=Path({str(tmp_path / 'cut')!r}));"
        "play_field(field(Dying), AMOUNT, options, told)"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False)
    assert ended.returncode == -signal.SIGKILL
    cut = tmp_path / "cut" / "test.jsonl"
    kept = cut.read_text().splitlines()
    assert 3 < len(kept) < 24
    again = play_field(field(), AMOUNT, EvalOptions(folder=tmp_path / "cut"), told)
    assert again == whole
    assert cut.read_bytes() == (tmp_path / "whole" / "test.jsonl").read_bytes()
    assert cut.read_text().splitlines()[: len(kept)] == kept


def test_a_second_run_plays_nothing_again(tmp_path: Path) -> None:
    options = EvalOptions(folder=tmp_path)
    first = play_field(field(), AMOUNT, options, told)
    # A shooter that would fire at one cell again and again would be found out.
    assert play_field(field(Broken), AMOUNT, options, told) == first


class Broken(Uniform):
    def shoot(self, view: View) -> int:
        return 0


def test_more_games_go_on_from_fewer(tmp_path: Path) -> None:
    few = play_field(field(), Amount(4, 4), EvalOptions(folder=tmp_path), told)
    more = play_field(field(), AMOUNT, EvalOptions(folder=tmp_path), told)
    assert more.solos["random"][:4] == few.solos["random"]
    assert more.duels["random", "watcher"][:4] == few.duels["random", "watcher"]
    assert more == play_field(field(), AMOUNT, EvalOptions(), told)


def test_a_folder_of_other_parameters_is_refused(tmp_path: Path) -> None:
    play_field(field(), AMOUNT, EvalOptions(folder=tmp_path), told)
    with pytest.raises(EvalError, match="belongs to other work"):
        play_field(field(budget=4000), AMOUNT, EvalOptions(folder=tmp_path), told)


def test_two_workers_play_the_same_games(tmp_path: Path) -> None:
    one = play_field(field(), AMOUNT, EvalOptions(folder=tmp_path / "one"), told)
    two = play_field(field(), AMOUNT, EvalOptions(folder=tmp_path / "two", workers=2), told)
    assert one == two
    names = [tmp_path / place / "test.jsonl" for place in ("one", "two")]
    assert names[0].read_bytes() == names[1].read_bytes()


def test_a_finished_game_is_a_line_of_json(tmp_path: Path) -> None:
    play_field(field(), AMOUNT, EvalOptions(folder=tmp_path), told)
    lines = (tmp_path / "test.jsonl").read_text().splitlines()
    assert len(lines) == 1 + 24
    assert json.loads(lines[0])["identity"]["contestants"]["watcher"] == {"player": "random"}
    assert {frozenset(json.loads(line)["entry"]) for line in lines[1:]} == {
        frozenset({"shots", "used"}),
        frozenset({"won", "first", "shots", "health", "used"}),
    }


def test_contestants_of_one_name_are_refused() -> None:
    with pytest.raises(EvalError, match="different names"):
        play_field(Field("test", 5, (uniform(), uniform()), {}), AMOUNT, EvalOptions(), told)


@pytest.mark.parametrize(("solos", "duels"), [(1, 4), (4, 5), (4, 2)])
def test_an_amount_that_gives_no_estimate_is_refused(solos: int, duels: int) -> None:
    with pytest.raises(ValueError, match="required: at least 2 solos"):
        Amount(solos, duels)


def test_pairs_with_a_slow_player_can_be_given_fewer_games() -> None:
    slow = Contestant("slow", Uniform, {}, looks=True, slow=True)
    whole = Field("test", 5, (*field().contestants, slow), {})
    played = play_field(whole, Amount(6, 8, 4), EvalOptions(), told)
    assert {pair: len(games) for pair, games in played.duels.items()} == {
        ("random", "watcher"): 8,
        ("random", "slow"): 4,
        ("watcher", "slow"): 4,
    }
