"""Games played twice by any player: referee, rivals, and other hidden states."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self, TypeAlias

from agents.players.registry import make_player
from agents.players.specs import PlayerSpec, Seating
from evals.leakage.twins import Bout, OtherStates, Seated, Twins, play_twice
from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game, Json, LocalModule
from games.streams import stream
from tools.sandbox import Sandbox, SandboxedModule, SandboxTable

Pair: TypeAlias = tuple[Seated, Seated]
Pairs: TypeAlias = Callable[[int, ExitStack], Pair]
"""Makes two players of one kind for a seat; the stack closes them."""


@dataclass(frozen=True)
class TwinSetup:
    """One game as it is played.

    Attributes:
        name: A family or preset of the library.
        players: Seats at the table.
        parameters: What differs from the game's defaults.
        max_plies: Plies after which a match is left.
    """

    name: str
    players: int
    parameters: Mapping[str, Json] = field(default_factory=dict)
    max_plies: int = 250


class TwinMatches:
    """Plays matches of one game twice; the module under test runs in a referee's worker.

    Other states are drawn by the library's own module in this process, whatever the source under
    test is. The rivals play at random.
    """

    def __init__(
        self,
        setup: TwinSetup,
        source: str,
        sandbox: Sandbox,
        seed: int,
        heuristics: Mapping[str, str] | None = None,
    ) -> None:
        """Load the module under test.

        Args:
            setup: The game.
            source: The module under test: the library's own, or that with something planted.
            sandbox: Where it and the players run.
            seed: Of the run.
            heuristics: In place of the library's own.

        Raises:
            ModuleFault: If the source does not load.
            SandboxUnavailableError: If the sandbox cannot start.
        """
        self.setup = setup
        self.source = source
        self.sandbox = sandbox
        self.seed = seed
        self.heuristics = heuristics or library.heuristic_sources(setup.name)
        self.reference = Game(LocalModule(library.source(setup.name)))
        self.worker = sandbox.worker("referee", source)
        try:
            self.worker.load(source)
        except BaseException:
            self.worker.kill()
            raise

    def __enter__(self) -> Self:
        """Leaving it ends the referee's worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the referee's worker."""
        self.worker.kill()

    def of(self, spec: PlayerSpec) -> Pairs:
        """Pairs of the player that a spec describes, each with workers of its own."""

        def seated(seat: int, stack: ExitStack) -> Seated:
            place = (seat, self.setup.players, self.setup.parameters)
            at = Seating(*place, self.source, self.sandbox, self.heuristics)
            player = make_player(spec, at)
            stack.callback(player.close)
            return lambda _look: player

        return lambda seat, stack: (seated(seat, stack), seated(seat, stack))

    def compared(self, pairs: Pairs, positions: int, matches: int) -> list[Twins]:
        """Play matches twice, with the seats in turn, until enough decisions are compared.

        Args:
            pairs: Makes the players.
            positions: Decisions to compare.
            matches: Matches to play at the most.

        Raises:
            PlayerSpecError: If the player refuses the game.
        """
        twins: list[Twins] = []
        made: dict[int, Pair] = {}
        with ExitStack() as stack:
            for match in range(matches):
                seat = match % self.setup.players
                if seat not in made:
                    made[seat] = pairs(seat, stack)
                others = OtherStates(
                    self.reference, seat, stream(self.seed, "other states", match=match, seat=seat)
                )
                twins.append(play_twice(self._bout(seat, match), *made[seat], others.draw))
                if sum(one.positions for one in twins) >= positions:
                    break
        return twins

    def _bout(self, seat: int, match: int) -> Bout:
        return Bout(
            table=SandboxTable(self.worker),
            game=Game(SandboxedModule(self.worker)),
            parameters=self.setup.parameters,
            seat=seat,
            rivals=[UniformPlayer()] * self.setup.players,
            seed=self.seed,
            match=match,
            max_plies=self.setup.max_plies,
        )
