"""Deals of Hearts that fit what one seat knows, and the two opponents who begin from them.

A deal is drawn by the library's own sampler, in a sandboxed worker, from the newest observation of
the seat's log alone. It never sees a state.
"""

import json
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from numpy.random import Generator
from pydantic import Field

from agents.players.registry import PlayerRoster, SeatedPlayer
from agents.players.specs import (
    PlayerSpecError,
    Seating,
    filled,
    given_settings,
    parameters_of,
    require_unchanged,
)
from agents.search.settings import MANY, PlayerSettings
from evals.gomcts.seatings import SEATS
from evals.results import read_data
from games.engine import Decision, Effort, PlayerFault
from games.information import SeatLog
from games.values import Action, Json, ModuleFault, Observation
from tools.playtest.jobs import GameSetup, PlayerSpec
from tools.sandbox import Sandbox

PROGRAM, WORLDS = "program", "openspiel-pimc"
VARIABLE = "RULEWRIGHT_HEARTS_PROGRAM"
_DRAWS: str = read_data("data/sources.yaml")["worlds"]
_DRAWING_S = 60.0
_SEEDS = 2**31
_STEPS = {"left": 1, "right": SEATS - 1, "across": SEATS // 2, "keep": 0}
_DIRECTIONS = ("keep", "left", "across", "right")  # OpenSpiel's numbers
_RANKS, _SUITS = "23456789TJQKA", "CDHS"  # a card's number is that of its rank, by four, and suit
_LONGEST = 1024  # bytes of an answer
_DIGITS = 16  # of a program's hash


@dataclass(frozen=True)
class DealtWorld:
    """A deal that fits what a seat knows.

    Attributes:
        dealt: By seat, its first cards.
        passes: By seat, what it has passed on so far, in order.
    """

    dealt: tuple[tuple[str, ...], ...]
    passes: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, seen: Mapping[str, Any], drawn: Sequence[Sequence[Sequence[str]]]) -> "DealtWorld":
        """The first cards, from the hands, cards to be passed, and cards passed, that were drawn.

        Args:
            seen: The seat's newest observation.
            drawn: `[hands, passing, passed]`, each by seat.
        """
        hands, passing, passed = drawn
        held = [{*one, *other} for one, other in zip(hands, passing, strict=True)]
        for seat, card in played_cards(seen):
            held[seat].add(card)
        if any(passed):
            step = _STEPS[seen["direction"]]
            for giver, cards in enumerate(passed):
                held[(giver + step) % SEATS] -= {*cards}
            for giver, cards in enumerate(passed):
                held[giver] |= {*cards}
        given = passed if any(passed) else passing
        return cls(tuple(tuple(sorted(one)) for one in held), tuple(tuple(one) for one in given))


def played_cards(seen: Mapping[str, Any]) -> list[tuple[int, str]]:
    """The cards on the table so far, oldest first, each with its seat."""
    tricks = [*seen["tricks"], {"leader": seen["leader"], "cards": seen["trick"]}]
    return [
        ((trick["leader"] + place) % SEATS, card)
        for trick in tricks
        for place, card in enumerate(trick["cards"])
    ]


def card_number(card: str) -> int:
    """OpenSpiel's number of a card.

    >>> card_number("2C"), card_number("QS")
    (0, 43)
    """
    return 4 * _RANKS.index(card[0]) + _SUITS.index(card[1])


def openspiel_actions(seen: Mapping[str, Any], world: DealtWorld) -> list[int]:
    """OpenSpiel's actions from the start of a deal to what the seat sees, in this world."""
    cards = [
        *(card for row in zip(*world.dealt, strict=True) for card in row),
        *(card for cards in world.passes for card in cards),
        *(card for _, card in played_cards(seen)),
    ]
    return [_DIRECTIONS.index(seen["direction"]), *map(card_number, cards)]


class _FromWorlds:
    """A player who begins from deals that fit."""

    def __init__(self, at: Seating) -> None:
        self.seat = at.seat
        source = at.game.source.rstrip() + _DRAWS
        self.worker = at.sandbox.worker(f"worlds-{at.seat}", source)
        self.worker.load(source)

    def worlds(self, seen: Observation, count: int, generator: Generator) -> list[DealtWorld]:
        """So many deals.

        Raises:
            PlayerFault: If the game's sampler fails.
        """
        seed = [int(word) for word in generator.integers(2**32, size=4)]
        try:
            asked: list[Json] = [[[seen, None]], self.seat, count]
            drawn: Any = self.worker.call("worlds", asked, seed=seed, deadline_s=_DRAWING_S)
        except ModuleFault as fault:
            raise PlayerFault(f"no deal was drawn: {fault}") from fault
        return [DealtWorld.of(seen, one) for one in drawn]

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


class WorldSettings(PlayerSettings):
    """Settings of PIMC with OpenSpiel's search."""

    worlds: int = Field(default=50, ge=1, le=MANY, description="Deals of a decision.")
    simulations: int = Field(default=200, ge=14, le=MANY, description="Of each deal.")
    exploration: float = Field(default=0.4, ge=0, le=MANY, description="C, for returns in [0, 1].")


class OpenSpielWorlds(_FromWorlds):
    """PIMC: OpenSpiel's C++ MCTS in each of several deals; plays the best mean over them.

    Its rollouts are uniform. OpenSpiel pays 26 less the points taken, and C is scaled by that.
    """

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Load the game."""
        super().__init__(at)
        import pyspiel

        self.settings = spec.part(WorldSettings)
        self.spiel, self.game = pyspiel, pyspiel.load_game("hearts")

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        effort = Effort.of({"algorithm": WORLDS, **self.settings.model_dump(mode="json")})
        if len(legal) == 1:
            return Decision(legal[0], effort)
        seen = log.latest()
        found: dict[int, list[float]] = {card_number(one.split()[1]): [] for one in legal}
        for world in self.worlds(seen, self.settings.worlds, generator):
            state = self.game.new_initial_state()
            for action in openspiel_actions(seen, world):
                state.apply_action(action)
            if state.current_player() != self.seat or {*state.legal_actions()} != {*found}:
                raise PlayerFault(f"OpenSpiel allows otherwise: {state}")
            for child in self._searched(state, generator).children:
                if child.explore_count:
                    found[child.action].append(child.total_reward / child.explore_count)
        means = {action: sum(of) / len(of) for action, of in found.items() if of}
        best = max(means, key=means.__getitem__)
        return Decision(next(a for a in legal if card_number(a.split()[1]) == best), effort)

    def _searched(self, state: Any, generator: Generator) -> Any:  # noqa: ANN401 - no types
        one, other = (int(word) for word in generator.integers(_SEEDS, size=2))
        rollouts = self.spiel.RandomRolloutEvaluator(1, one)
        scaled, count = 26 * self.settings.exploration, self.settings.simulations
        bot = self.spiel.MCTSBot(self.game, rollouts, scaled, count, 1000, False, other, False)
        return bot.mcts_search(state)


class ProgramSettings(PlayerSettings):
    """Settings of a program outside the repository."""

    path: str = Field(default="", description="Of the program; required.")
    sha256: str = Field(default="", description="Of its bytes; filled in, else compared.")
    deadline: float = Field(default=60.0, ge=0.1, le=3600, description="Seconds to answer in.")
    # It may answer otherwise the next time, as who has a budget of time.
    budget: str = Field(default="time", description="Not the same twice.")


class ProgramPlayer(_FromWorlds):
    """Asks a program: a line of JSON for each decision, and a line with a card as the answer.

    The line holds what the seat knows: seat, phase, direction, hand, passing, passed, received,
    leader, trick, tricks, and the cards that are legal. `seed` is a number to draw from. `dealt`
    and `passes` are one deal that fits all this, for programs that need a whole state. The program
    runs for one match of one seat, and ends with its input. Whatever it does wrong is its forfeit.
    """

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Compare the program's hash.

        Raises:
            PlayerSpecError: If it has changed, or is none.
        """
        super().__init__(at)
        self.settings = spec.part(ProgramSettings)
        _with_program_hash(self.settings)
        self.process: subprocess.Popen[bytes] | None = None

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`.

        Raises:
            PlayerFault: If the program does not start, ends, answers late, or answers no legal
                card.
        """
        if len(legal) == 1:
            return Decision(legal[0], Effort(PROGRAM))
        seen: Any = log.latest()
        world = self.worlds(seen, 1, generator)[0]
        known = ("phase", "direction", "hand", "passing", "passed", "received", "leader")
        cards = {action.split()[1]: action for action in legal}
        row = {
            "seat": self.seat,
            **{name: seen[name] for name in (*known, "trick", "tricks")},
            "legal": [*cards],
            "seed": int(generator.integers(_SEEDS)),
            **vars(world),
        }
        answer = self._answer(json.dumps(row).encode() + b"\n")
        if answer not in cards:
            self._fail(f"answered {answer!r:.80}; required: one of {', '.join(cards)}")
        return Decision(cards[answer], Effort(PROGRAM))

    def _answer(self, line: bytes) -> str:
        try:
            process = self.process = self.process or _started(self.settings.path)
            assert process.stdin is not None, "a pipe"  # for mypy
            process.stdin.write(line)
            process.stdin.flush()
        except OSError as error:
            self._fail(f"cannot be asked: {error}")
        assert process.stdout is not None, "a pipe"  # for mypy
        return self._line(process.stdout.fileno())

    def _line(self, descriptor: int) -> str:
        """A line; every byte of it must come in time."""
        until, said = time.monotonic() + self.settings.deadline, b""
        with selectors.DefaultSelector() as waiting:
            waiting.register(descriptor, selectors.EVENT_READ)
            while not said.endswith(b"\n"):
                left = until - time.monotonic()
                if left <= 0 or not waiting.select(left):
                    self._fail(f"did not answer in {self.settings.deadline:g} seconds")
                more = os.read(descriptor, _LONGEST)
                said += more
                if not more:
                    self._fail("ended before it answered")
                if len(said) > _LONGEST:
                    self._fail(f"answered more than {_LONGEST} bytes; required: a card, a line")
        return said.decode("utf-8", "replace").strip()

    def _fail(self, why: str) -> NoReturn:
        raise PlayerFault(f"{self.settings.path} {why}")

    def close(self) -> None:
        """End the program, and the worker."""
        super().close()
        if self.process is not None:
            with suppress(OSError):
                self.process.kill()
            self.process.communicate()


def _started(path: str) -> "subprocess.Popen[bytes]":
    """The program, without our variables: keys are among them."""
    return subprocess.Popen(
        [path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
    )


def _with_program_hash(settings: ProgramSettings) -> str:
    path = Path(settings.path)
    if not settings.path or not path.is_file() or not os.access(path, os.X_OK):
        raise PlayerSpecError(
            f"path is {settings.path!r}; required: a program that can be run; {VARIABLE} names it"
        )
    found = sha256(path.read_bytes()).hexdigest()[:_DIGITS]
    require_unchanged(settings.path, found, settings.sha256)
    return found


@dataclass(frozen=True)
class HeartsRoster(PlayerRoster):
    """Every player, and two opponents who know Hearts alone."""

    def effective(self, spec: str) -> PlayerSpec:
        """See `Roster.effective`.

        Raises:
            PlayerSpecError: If a setting is unknown, or the program cannot be run.
        """
        name, _, rest = spec.partition(":")
        if name not in _OWN:
            return super().effective(spec)
        parameters = parameters_of(_OWN[name])
        settings = filled(parameters, given_settings(name, parameters, rest))
        if name == PROGRAM:
            settings["sha256"] = _with_program_hash(ProgramSettings.model_validate(settings))
        return PlayerSpec(player=name, settings=settings)

    def seat(
        self, player: PlayerSpec, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
    ) -> SeatedPlayer:
        """See `Roster.seat`."""
        if player.player in _OWN:
            make = ProgramPlayer if player.player == PROGRAM else OpenSpielWorlds
            return make(player, Seating(seat, game, sandbox, match))
        return super().seat(player, seat=seat, match=match, game=game, sandbox=sandbox)

    def in_lockstep(self, player: PlayerSpec) -> bool:
        """See `Roster.in_lockstep`."""
        return player.player not in _OWN and super().in_lockstep(player)


_OWN: Mapping[str, type[PlayerSettings]] = {PROGRAM: ProgramSettings, WORLDS: WorldSettings}
