"""Eval: how do heuristics made in the run fare against RLCard's own rule agents (Table 6)?

RLCard is the referee of its Leduc hold'em and its Uno, at its usual tables of two. Our module of
the same game is driven in lockstep from its deals and actions, and tells our heuristics what they
may see; every difference between the two fails the result and is named. All pairings play the same
deals. The win rate of the last player (RLCard's seat 1) counts equal payoffs as half a win.

Our Leduc is the library's with three rules changed, for which the family has no settings: blinds
instead of antes, folding where nothing is owed, and a second round that is begun by the seat after
the last one to act. RLCard pays in big blinds, our module in chips.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

from agents.search.leaves import mean_ranks
from evals.cardiverse.players import RECIPE, SEATS, PlayersSize, made_heuristics
from evals.results import EvalError, EvalOptions, EvalResult, Row, Score, read_data
from games import library
from games.modules import bind, first_state, load_namespace, scoring
from games.streams import stream
from games.values import CHANCE, TERMINAL, Action, Observation
from tools.playtest.intervals import share_interval
from tools.playtest.jobs import GameSetup, sandbox_of_process
from tools.playtest.ratings import win_share

MISSING = (
    "RLCard is not installed; it comes with the extra rlcard: pip install 'rulewright[rlcard]'"
)
FULL = PlayersSize(40_000, 400, 2_000, ("leduc-holdem", "uno"))
QUICK = PlayersSize(1_000, 24, 100, FULL.games)
_PUBLISHED: Row = read_data("cardiverse/published.json")
_BLINDS: str = read_data("data/sources.yaml")["blinds"]
_LINE = (
    "{pairing}: {win rate} % for the last ({low} to {high}, n = {n} matches); "
    "published {published} %"
)
_RANKS = {"skip": "S", "reverse": "V", "draw_2": "D", "wild": "W", "wild_draw_4": "F"}


class DifferenceError(EvalError):
    """RLCard and our module differ: a result, which no figure may hide."""


class Lockstep:
    """One match of our module, held against another referee's.

    Attributes:
        returns: `[SEATS]`: what was paid so far.
        plies: What was played and drawn.
    """

    def __init__(self, module: Mapping[str, object]) -> None:
        """Begin a match of a loaded module."""
        self._rules, self._state = bind(module, SEATS), first_state(module, SEATS)
        self.returns, self.plies = [0.0] * SEATS, list[Action]()

    @property
    def player(self) -> int:
        """The seat to move, `CHANCE` or `TERMINAL`."""
        return self._rules.current_player(self._state)

    @property
    def legal(self) -> list[Action]:
        """Legal actions, or outcomes of chance; none at the end."""
        return self._rules.legal_actions(self._state)

    @property
    def observation(self) -> Observation:
        """The observation of the seat to move."""
        return self._rules.observations(self._state)[self.player]

    def advance(self, action: Action) -> None:
        """Play what the referee played or drew.

        Raises:
            DifferenceError: If our module does not allow it here.
        """
        self._require(action in self.legal, "the next action", action, self.legal)
        self._state = self._rules.apply_action(self._state, action)
        self.plies.append(action)
        paid = self._rules.rewards(self._state)
        self.returns = [one + more for one, more in zip(self.returns, paid, strict=True)]

    def hold(self, player: int, legal: Iterable[Action], returns: list[float]) -> None:
        """Hold our position against the referee's, in our words.

        Raises:
            DifferenceError: If turn, end, legal actions or returns differ.
        """
        theirs = {"player": player, "legal actions": sorted(legal), "returns": returns}
        ours = (self.player, sorted(self.legal), self.returns)
        for (name, told), own in zip(theirs.items(), ours, strict=True):
            self._require(told == own, name, told, own)

    def _require(self, agreed: bool, name: str, theirs: object, ours: object) -> None:
        if not agreed:
            raise DifferenceError(
                f"after {len(self.plies)} plies the referee says of {name}: {theirs}; our module: "
                f"{ours}; played were {self.plies}"
            )


class _Leduc:
    """A match of RLCard's Leduc hold'em; our first seat is its small blind, who begins."""

    source = library.source("leduc_poker") + _BLINDS
    agents = ("LeducHoldemRuleAgentV1", "LeducHoldemRuleAgentV2")
    agents_from = "rlcard.models.leducholdem_rule_models"
    unit = 2.0  # what our module pays for one that RLCard pays

    def __init__(self, match: Any, seat: int) -> None:  # noqa: ANN401 - RLCard has no types
        self.first = seat
        self.drawn = [match.players[seat].hand, match.players[1 - seat].hand]

    def card(self, card: Any) -> str:  # noqa: ANN401 - RLCard has no types
        return f"{card.rank}{card.suit}"

    def words(self, legal: list[str]) -> dict[str, Action]:
        return {one: "bet" if one == "raise" and "check" in legal else one for one in legal}


class _Uno:
    """A match of RLCard's Uno."""

    source = (files("games.environments") / "modules" / "uno.py").read_text(encoding="utf-8")
    agents = ("UNORuleAgentV1",)
    agents_from, unit = "rlcard.models.uno_rule_models", 1.0

    def __init__(self, match: Any, _seat: int) -> None:  # noqa: ANN401 - RLCard has no types
        one, other = (player.hand for player in match.players)
        self.first = 0
        self.drawn = [*one[:7], *other[:7], *match.round.played_cards, *one[7:]]

    def card(self, card: Any) -> str:  # noqa: ANN401 - RLCard has no types
        return self._name(card.get_str())[: 1 if card.type == "wild" else 2]

    def words(self, legal: list[str]) -> dict[str, Action]:
        return {one: one if one == "draw" else f"play {self._name(one)}" for one in legal}

    def _name(self, card: str) -> str:
        """RLCard's `r-draw_2` is our `DR`."""
        color, trait = card.split("-")
        return _RANKS.get(trait, trait) + color.upper()


_Table: TypeAlias = type[_Leduc] | type[_Uno]
_TABLES: dict[str, _Table] = {"leduc-holdem": _Leduc, "uno": _Uno}
Choose: TypeAlias = Callable[[Row, Lockstep, Mapping[str, Action]], Action]
"""A decision, from RLCard's view of the seat, our match, and our words for RLCard's actions."""


class _Deck(list[Any]):
    """RLCard's deck; what is taken from it is noted."""

    drawn: list[Any]

    def pop(self, *at: Any) -> Any:  # noqa: ANN401 - takes the place of list.pop
        self.drawn.append(super().pop(*at))
        return self.drawn[-1]


def refereed(env: Any, module: Mapping[str, object], players: list[Choose], seed: int) -> float:  # noqa: ANN401 - RLCard has no types
    """The last seat's share of the win in one match that RLCard referees.

    Args:
        env: RLCard's environment of the game.
        module: Ours of it, loaded.
        players: By RLCard's seats.
        seed: Of the deal, and of what RLCard's agents draw.

    Raises:
        DifferenceError: If RLCard and our module differ.
    """
    np.random.seed(seed)  # noqa: NPY002 - RLCard's agents draw from it
    env.seed(seed)
    seen, seat = env.reset()
    lock, table = Lockstep(module), _TABLES[env.name](env.game, seat)
    deck = _Deck(env.game.dealer.deck)
    deck.drawn, env.game.dealer.deck = table.drawn, deck
    while True:
        while lock.player == CHANCE:
            if lock.legal[0].startswith("color"):
                lock.advance(f"color {env.game.round.target.color.upper()}")
            else:
                lock.advance(f"deal {table.card(table.drawn.pop(0)) if table.drawn else None}")
        over = env.is_over()
        if table.drawn and not over:
            lock.advance(f"deal {table.card(table.drawn[0])}")  # our module did not ask for it
        words = {} if over else table.words(seen["raw_legal_actions"])
        paid = [table.unit * float(one) for one in env.get_payoffs()] if over else [0.0] * SEATS
        turn = TERMINAL if over else (seat - table.first) % SEATS
        lock.hold(turn, set(words.values()), paid[table.first :] + paid[: table.first])
        if over:
            return win_share(paid, SEATS - 1)
        action = players[seat](seen, lock, words)
        lock.advance(action)
        theirs = next(theirs for theirs, ours in words.items() if ours == action)
        seen, seat = env.step(theirs, raw_action=True)


def run(options: EvalOptions, size: PlayersSize | None = None) -> EvalResult:
    """Make our players, and let all meet.

    Raises:
        EvalError: Without RLCard.
    """
    if find_spec("rlcard") is None:
        raise EvalError(MISSING)
    size, samples = size or (QUICK if options.quick else FULL), list[Row]()
    with sandbox_of_process(RECIPE) as sandbox:
        grade = sandbox.grade.model_dump(mode="json")
    for game in size.games:
        for row in _pairings(game, size, options):
            samples.append(row)
            options.tell(row.get("problem") or _LINE.format_map(row))
    return EvalResult(
        scores=tuple(
            Score(name=f"{one['pairing']}: % of the last", value=one["win rate"], scored=one["n"])
            for one in samples
            if "n" in one
        ),
        samples=tuple(samples),
        unscored={row["pairing"]: row["problem"] for row in samples if "problem" in row},
        effective={
            "size": {"plies": size.plies, "selecting": size.selecting, "matches": size.matches},
            "sandbox": grade,
            "made by": "fitting, without a model and without the library's heuristics",
            "published": {key: _PUBLISHED[key] for key in ("source", "not comparable")},
            "rlcard": version("rlcard"),
        },
    )


def _pairings(game: str, size: PlayersSize, options: EvalOptions) -> Iterator[Row]:
    """The rows of the table: who acts before, who last, its win rate, and the paper's."""
    import rlcard

    table, env = _TABLES[game], rlcard.make(game)
    setup = GameSetup(game, table.source, SEATS)
    module, (_, kept) = load_namespace(setup.source), made_heuristics(setup, size, options)
    ours = {heuristic.name: heuristic.source for heuristic in kept}
    for pair in product(("random", *table.agents, "ours"), repeat=SEATS):
        if {*pair} <= {*table.agents} and pair[0] != pair[1]:
            continue  # the paper has one heuristic agent a game
        players = [
            _player(table, name, ours, stream(options.seed, f"{game} {pair}", seat=seat))
            for seat, name in enumerate(pair)
        ]
        roles = ["heuristic" if name in table.agents else name for name in pair]
        row: Row = {
            "pairing": f"{game}: {pair[0]}, then {pair[1]}",
            "ours": [*ours],
            "published": _PUBLISHED[game][", ".join(roles)],
        }
        deals = [stream(options.seed, game, match=number) for number in range(size.matches)]
        try:
            shares = [refereed(env, module, players, int(one.integers(2**31))) for one in deals]
        except DifferenceError as error:
            yield {**row, "problem": f"{row['pairing']}: {error}"}
            continue
        found = share_interval(shares, "matches")
        rates = {"win rate": found.value, "low": found.low, "high": found.high}
        yield {**row, **{name: round(100 * rate, 1) for name, rate in rates.items()}, "n": found.n}


def _player(table: _Table, name: str, ours: Mapping[str, str], generator: Generator) -> Choose:
    """A player of that name; ours plays the best by mean rank, and like random play the equals."""
    if name in table.agents:
        agent = getattr(import_module(table.agents_from), name)()
        return lambda seen, _lock, words: words.get(raw := str(agent.eval_step(seen)[0]), raw)
    scores = [scoring(*one) for one in ours.items()] if name == "ours" else []

    def choose(_seen: Row, lock: Lockstep, _words: Mapping[str, Action]) -> Action:
        view, legal = lock.observation, lock.legal
        rows = [[score(view, action) for action in legal] for score in scores]
        ranks = np.asarray(mean_ranks(rows or [[0.0] * len(legal)]))
        best = np.flatnonzero(ranks == ranks.max())
        return legal[int(best[generator.integers(len(best))])]

    return choose
