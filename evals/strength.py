"""Eval: does UCT at 1,000 simulations lose at tic-tac-toe, and how does it fare at connect four?

Tic-tac-toe: the player `uct` as it is by default, so many games in each seat against uniformly
random play, against itself and against perfect play (a plain minimax over every position, which
draws one of the best actions uniformly). Drawn with best play, it should lose none. Connect four:
equal simulations against OpenSpiel's C++ MCTSBot with its solver, from random openings.

The searches run in this process on library modules, which are trusted; in a sandboxed worker they
are the same code and choose the same.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.random import Generator

from agents.players.registry import parse_spec
from agents.search.settings import SearchView
from agents.search.uct import UctSettings
from agents.search.uct import decide as uct
from evals.openspiel import MISSING, has_openspiel
from evals.results import EvalOptions, EvalResult, Row, Score, Tell
from games import library
from games.modules import Rules, bind, first_state, load_namespace
from games.streams import stream
from games.values import Action, State, canonical_key
from tools.playtest.intervals import share_interval

SIMULATIONS = 1000
OPENING = (0, 8)  # plies played at random before the searches begin: least and most
UCT_C = 2.0  # with returns in [-1, 1], as in OpenSpiel's own example
MEMORY_MB = 1000
LOW_AT_LEAST = 0.43  # of the interval of our share against MCTSBot: not inferior
Choose: TypeAlias = Callable[[State, Generator], Action]


@dataclass(frozen=True)
class StrengthSize:
    """Numbers of games and settings of search.

    Attributes:
        games: Games of tic-tac-toe in each seat against each opponent.
        pairs: Pairs of games of connect four.
    """

    games: int
    pairs: int


FULL, QUICK = StrengthSize(200, 150), StrengthSize(20, 12)


def run(
    options: EvalOptions, size: StrengthSize | None = None, *, against_openspiel: bool | None = None
) -> EvalResult:
    """Play both games; without OpenSpiel there is nobody to play connect four with.

    Args:
        options: Whether the run is quick, and the seed of all games.
        size: How much is played; None for the usual sizes.
        against_openspiel: Whether OpenSpiel is played; None for where it is installed.
    """
    size = size or (QUICK if options.quick else FULL)
    is_compared = has_openspiel() if against_openspiel is None else against_openspiel
    spec = parse_spec(f"uct:simulations={SIMULATIONS}")
    settings = spec.part(UctSettings)
    samples: list[Row] = []
    for sample in tic_tac_toe(settings, size.games, options.seed):
        options.tell(f"tic-tac-toe: {sample}")
        samples.append(sample)
    lost, games = (sum(sample[name] for sample in samples) for name in ("lost", "games"))
    scores = [Score("games of tic-tac-toe lost", lost, games, at_most=0)]
    if is_compared:
        score, sample = connect_four(settings, size, options.seed, options.tell)
        scores.append(score)
        samples.append(sample)
    return EvalResult(
        scores=tuple(scores),
        samples=tuple(samples),
        effective={
            "player": spec.name,
            "runs": "library modules in this process, without a sandbox",
            "games a seat of tic-tac-toe": size.games,
            "pairs of connect four": size.pairs,
            "MCTSBot": f"{SIMULATIONS} simulations, one rollout, uct_c={UCT_C}, solve=True",
        },
        unscored={} if is_compared else {"connect four against MCTSBot": MISSING},
    )


def connect_four(
    settings: UctSettings, size: StrengthSize, seed: int, tell: Tell
) -> tuple[Score, Row]:
    """Our share of the points against MCTSBot, by the lower end of its interval.

    Fewer pairs than the full eval's leave so wide an interval that it is held against no bound.
    """
    points: list[float] = []
    for point in pairs(settings, SIMULATIONS, seed, size.pairs):
        points.append(point)
        tell(f"connect four: {sum(points):g} of {len(points)} pairs")
    share = share_interval(points, "pairs")
    required = LOW_AT_LEAST if size.pairs >= FULL.pairs else None
    sample: Row = {
        "game": "connect_four",
        "opponent": "OpenSpiel MCTSBot",
        "pairs": len(points),
        "ours": share.value,
        "low": share.low,
        "high": share.high,
        "method": share.method,
        "required low": required,
    }
    name = "connect four against MCTSBot: low end of our share"
    return Score(name, share.low, len(points), at_least=required), sample


def tic_tac_toe(settings: UctSettings, games: int, seed: int) -> Iterator[Row]:
    """Games that each opponent won, by the seat that we had."""
    board = _Board("tic_tac_toe")

    def ours(state: State, generator: Generator) -> Action:
        return _chosen(board.rules, state, settings, generator)

    opponents: dict[str, Choose] = {"random": board.random, "itself": ours, "perfect": board.best}
    for name, other in opponents.items():
        for seat in (0, 1):
            players = [other, other]
            players[seat] = ours
            results = [
                board.play(players, stream(seed, f"tic-tac-toe {name}", match=match, seat=seat))
                for match in range(games)
            ]
            yield {
                "game": "tic_tac_toe",
                "opponent": name,
                "seat": seat,
                "games": games,
                "lost": sum(result[seat] < 0 for result in results),
                "won": sum(result[seat] > 0 for result in results),
            }


class _Board:
    """A library game for two, with the exact value of every position where it is small."""

    def __init__(self, name: str) -> None:
        namespace = load_namespace(library.source(name))
        self.rules = bind(namespace, 2)
        self.start = first_state(namespace, 2)
        self.values: dict[str, float] = {}

    def play(self, players: list[Choose], generator: Generator) -> list[float]:
        """The returns of a game."""
        state = self.start
        while (player := self.rules.current_player(state)) >= 0:
            state = self.rules.apply_action(state, players[player](state, generator))
        return self.rules.rewards(state)

    def random(self, state: State, generator: Generator) -> Action:
        """Any legal action."""
        legal = self.rules.legal_actions(state)
        return legal[int(generator.integers(len(legal)))]

    def best(self, state: State, generator: Generator) -> Action:
        """One of the actions that are best against best play."""
        sign = 1 if self.rules.current_player(state) == 0 else -1
        values = {
            action: sign * self.value(self.rules.apply_action(state, action))
            for action in self.rules.legal_actions(state)
        }
        good = [action for action, value in values.items() if value == max(values.values())]
        return good[int(generator.integers(len(good)))]

    def value(self, state: State) -> float:
        """The first seat's result under best play by both from here (minimax to the end)."""
        key = canonical_key(state)
        if key not in self.values:
            rules, player = self.rules, self.rules.current_player(state)
            if player < 0:
                self.values[key] = rules.rewards(state)[0]
            else:
                after = [rules.apply_action(state, action) for action in rules.legal_actions(state)]
                choose = max if player == 0 else min
                self.values[key] = choose(self.value(next_state) for next_state in after)
        return self.values[key]


def _opponent(simulations: int, seed: int, opening: Sequence[str]) -> tuple[Any, Any]:
    """OpenSpiel's MCTSBot with its solver, one random rollout a simulation; and its position.

    Raises:
        ImportError: If OpenSpiel is not installed.
    """
    import pyspiel

    game = pyspiel.load_game("connect_four")
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.MCTSBot(game, evaluator, UCT_C, simulations, MEMORY_MB, True, seed, False)
    state = game.new_initial_state()
    for action in opening:
        state.apply_action(_column(action))
    return bot, state


def pairs(settings: UctSettings, simulations: int, seed: int, count: int) -> Iterator[float]:
    """Our share of the points of each of so many pairs of games.

    Both games of a pair begin with the same random opening, which ends before the game does; we
    have the first seat in one of them and the second in the other.
    """
    board = _Board("connect_four")
    for number in range(count):
        opening = _opening(board, stream(seed, "opening", match=number))
        keys = ((seed, number, seat) for seat in (0, 1))
        yield sum(_game(board, opening, settings, simulations, key) for key in keys) / 2


def _opening(board: _Board, generator: Generator) -> list[str]:
    """Actions of a random opening after which the game goes on."""
    while True:
        plies = int(generator.integers(OPENING[0], OPENING[1] + 1))
        state, actions = board.start, list[str]()
        while len(actions) < plies and board.rules.current_player(state) >= 0:
            actions.append(board.random(state, generator))
            state = board.rules.apply_action(state, actions[-1])
        if board.rules.current_player(state) >= 0:
            return actions


def _column(action: str) -> int:
    """OpenSpiel's action: the column, from 0."""
    return int(action.split()[-1]) - 1


def _chosen(rules: Rules, state: State, settings: UctSettings, generator: Generator) -> Action:
    view = SearchView(rules, rules.current_player(state), lambda: state)
    return uct(view, settings, generator).best


def _game(
    board: _Board, opening: list[str], settings: UctSettings, simulations: int, key: tuple[int, ...]
) -> float:
    """1 where we win, 0.5 for a draw."""
    rules, (seed, number, seat) = board.rules, key
    generator = stream(seed, "connect four", match=number, seat=seat)
    bot, theirs = _opponent(simulations, int(generator.integers(2**31)), opening)
    state = board.start
    for action in opening:
        state = rules.apply_action(state, action)
    while (player := rules.current_player(state)) >= 0:
        legal = {_column(action): action for action in rules.legal_actions(state)}
        if sorted(legal) != sorted(theirs.legal_actions()):
            raise ValueError(f"legal columns differ: {sorted(legal)}, {theirs.legal_actions()}")
        if player == seat:
            action = _chosen(rules, state, settings, generator)
        else:
            action = legal[bot.step(theirs)]
        state = rules.apply_action(state, action)
        theirs.apply_action(_column(action))
    return (rules.rewards(state)[seat] + 1) / 2
