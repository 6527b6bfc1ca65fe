from collections import Counter

from games.engine import RandomPlayer
from games.information import SeatLog
from games.streams import stream


def test_every_legal_action_is_equally_likely() -> None:
    player, legal = RandomPlayer(), ["a", "b", "c"]
    streams = [
        stream(0, "player", match=match, ply=ply) for match in range(60) for ply in range(50)
    ]
    counts = Counter(player.choose(SeatLog(0), legal, one).action for one in streams)
    # Six standard deviations of a binomial with n = 3000, p = 1/3: 6 * sqrt(666.7) = 155.
    assert all(abs(counts[action] - 1000) < 155 for action in legal)


def test_the_same_place_gives_the_same_action() -> None:
    legal = [str(number) for number in range(50)]
    first, second = (
        RandomPlayer().choose(SeatLog(0), legal, stream(5, "player", ply=9)) for _ in range(2)
    )
    assert first == second
