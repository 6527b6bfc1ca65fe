"""A roster of nim and of games like it, for tournaments in other processes too."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from games.engine import Decision, Effort, Player, PlayerFault
from games.information import SeatLog
from games.values import Action
from tools.playtest.jobs import GameSetup, PlayerSpec
from tools.sandbox import Sandbox

_DEFAULTS: dict[str, dict[str, float]] = {
    "uniform": {},
    "perfect": {},
    "perfect_again": {},
    "quits": {},
    "cheater": {},
    "fails": {},
    "wins": {"share": 0.5},
    "slow": {"seconds": 0.01},
}


@dataclass(frozen=True)
class NimRoster:
    @property
    def preload(self) -> tuple[str, ...]:
        return ()

    def in_lockstep(self, player: PlayerSpec) -> bool:
        """See `Roster.in_lockstep`."""
        del player
        return False

    def effective(self, spec: str) -> PlayerSpec:
        name, _, given = spec.partition(":")
        if name not in _DEFAULTS:
            raise ValueError(f"no player {name!r}; known: {', '.join(_DEFAULTS)}")
        settings = dict(_DEFAULTS[name])
        for pair in filter(None, given.split(",")):
            key, _, value = pair.partition("=")
            if key not in settings:
                raise ValueError(f"{name} has no setting {key!r}")
            settings[key] = float(value)
        return PlayerSpec(player=name, settings=dict(settings))

    def seat(
        self, player: PlayerSpec, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
    ) -> Player:
        settings = {key: float(str(value)) for key, value in player.settings.items()}
        made: dict[str, Player] = {
            "uniform": Uniform(),
            "perfect": Perfect(),
            "perfect_again": Perfect(),
            "quits": Quits(),
            "cheater": Cheater(),
            "fails": Fails(),
            "wins": Wins(settings.get("share", 0)),
            "slow": Slow(settings.get("seconds", 0)),
        }
        return made[player.player]


class Uniform:
    def __init__(self) -> None:
        self.closed = False

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        return Decision(legal[int(generator.integers(len(legal)))], Effort("uniform"))

    def close(self) -> None:
        self.closed = True


class Perfect:
    """Leaves a multiple of three where it can: then the other one loses."""

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        pile = log.latest()["pile"]
        assert isinstance(pile, int)
        return Decision(f"take {pile % 3 or 1}")


class Quits(Perfect):
    """Plays perfectly, and fails wherever perfect play has lost."""

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        decision = super().choose(log, legal, generator)
        if log.latest()["pile"] in (3, 6):
            raise PlayerFault("gives up")
        return decision


class Cheater:
    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        return Decision("take everything")


class Fails:
    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        raise PlayerFault("cannot decide")


@dataclass(frozen=True)
class Wins:
    """Plays "high" with a probability, else "low"; for `BIDDING`."""

    share: float

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        return Decision("high" if generator.random() < self.share else "low")


@dataclass(frozen=True)
class Slow:
    """Uniform, after a while."""

    seconds: float

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        time.sleep(self.seconds)
        return Decision(
            legal[int(generator.integers(len(legal)))], Effort(more={"seconds_asked": self.seconds})
        )


# Everybody bids once, unseen; the highest bids share the win. Chance turns a card up first.
BIDDING = """
GAME = {"name": "bidding", "summary": "Bid.", "min_players": 2, "max_players": 8,
        "parameters": {}}
ZONES = {"bids": {"component": "mark", "owner": "table", "ordered": True}}


def initial_state(num_players):
    return {"players": num_players, "card": -1, "bids": []}


def get_current_player(state):
    if state["card"] < 0:
        return -1
    return len(state["bids"]) if len(state["bids"]) < state["players"] else -4


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    player = get_current_player(state)
    if player == -4:
        return []
    return [f"card {n}" for n in range(4)] if player == -1 else ["low", "high"]


def get_chance_probabilities(state):
    return [0.25] * 4


def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError(f"{action} is not legal")
    if state["card"] < 0:
        return {**state, "card": int(action.split()[1])}
    return {**state, "bids": state["bids"] + [action]}


def get_rewards(state):
    if get_current_player(state) != -4:
        return [0] * state["players"]
    return [int(bid == "high") for bid in state["bids"]]


def get_observations(state):
    return [{"card": state["card"]} for _ in range(state["players"])]


def get_events(state, action):
    return [[] for _ in range(state["players"])]


def visible(state, player_id):
    return {"bids": "nothing"}
"""
