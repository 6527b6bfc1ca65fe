"""Registry of the players: a row each. A player's own file holds its settings and decides."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import ValidationError

from agents.players.file import FILE, FilePlayer, file_spec, require_function
from agents.players.greedy import ENSEMBLE, GreedyPlayer, GreedySettings, heuristics_named
from agents.players.llm import LLM, LlmPlayer, LlmSettings
from agents.players.model import CwmPlayer, CwmSettings, GtSettings, gt_player, with_model_file
from agents.players.observing import (
    ARGMAXVAL,
    GOMCTS,
    ArgmaxPlayer,
    ArgmaxSettings,
    ObservationPlayer,
    ObservedSettings,
    with_model_hash,
)
from agents.players.ppo import PPO, PolicyPlayer, PolicySettings, with_policy_hash
from agents.players.search import SearchPlayer, refuse_together, settings_of
from agents.players.solved import CfrSettings, SolvedPlayer
from agents.players.specs import PRELOAD as PRELOAD
from agents.players.specs import (
    Parameter,
    PlayerSpecError,
    Seating,
    filled,
    given_settings,
    parameters_of,
)
from agents.search.algorithms import SEARCHES
from agents.search.observation import ObservationSearchSettings
from agents.search.settings import PlayerSettings
from games.engine import Player, RandomPlayer
from games.modules import HEURISTIC
from games.text import did_you_mean
from tools.playtest.jobs import GameSetup, PlayerSpec
from tools.sandbox import Sandbox
from tools.sources import read_source

if TYPE_CHECKING:
    from agents.players.endpoint import ModelTable


class SeatedPlayer(Player, Protocol):
    """A player that may hold workers until it is closed."""

    def close(self) -> None:
        """Release what it holds; safe to call twice."""


@dataclass(frozen=True)
class PlayerKind:
    """One kind of player.

    Attributes:
        meaning: What it does.
        make: Seats one.
        settings: The models that declare its settings, in the order in which they are listed.
        refuse_together: Refuses settings of several models that do not go together.
        complete: Fills in what the settings name, such as the hash of a file.
        lockstep: Whether one player plays its seat in many matches at once.
    """

    meaning: str
    make: Callable[[PlayerSpec, Seating], SeatedPlayer]
    settings: tuple[type[PlayerSettings], ...] = ()
    refuse_together: Callable[[PlayerSpec], None] = lambda _: None
    complete: Callable[[PlayerSpec], PlayerSpec] = lambda spec: spec
    lockstep: bool = False

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its settings."""
        return tuple(known for model in self.settings for known in parameters_of(model))


PLAYERS: dict[str, PlayerKind] = {
    "random": PlayerKind(
        "Plays a legal action drawn uniformly.",
        lambda _spec, _at: RandomPlayer(),
        lockstep=True,
    ),
    "greedy": PlayerKind(
        "Plays the action that a heuristic scores highest; of equals one at random.",
        GreedyPlayer,
        (GreedySettings,),
        lockstep=True,
    ),
    **{
        name: PlayerKind(search.meaning, SearchPlayer, settings_of(search), refuse_together)
        for name, search in SEARCHES.items()
    },
    "cfr": PlayerKind(
        "Solves the whole game by CFR+ and plays its average policy, for games small enough to "
        "enumerate; an equilibrium is guaranteed for two-player zero-sum games only, and every "
        "decision reports the NashConv that was reached.",
        SolvedPlayer,
        (CfrSettings,),
    ),
    "cwm": PlayerKind(
        "Searches in a model of the game that `learn` made, or in any module: by UCT where what it "
        "sees determines the state, else by ISMCTS with the model's own inference.",
        CwmPlayer,
        (CwmSettings,),
        complete=with_model_file,
    ),
    "gt": PlayerKind(
        "Searches as cwm does, in the game itself and without a value function.",
        gt_player,
        (GtSettings,),
    ),
    LLM: PlayerKind(
        "Asks a language model, by the rules, its seat's view and its last turns; an answer that "
        "is still no legal action after its rethinks forfeits.",
        LlmPlayer,
        (LlmSettings,),
    ),
    PPO: PlayerKind(
        "Plays by a network that 'rulewright train' made; what it does not know is counted.",
        PolicyPlayer,
        (PolicySettings,),
        lockstep=True,
        complete=with_policy_hash,
    ),
    ARGMAXVAL: PlayerKind(
        "Plays the action of the highest value among the likely ones, by a model of what its seat "
        "sees that 'rulewright train --player gomcts' made.",
        ArgmaxPlayer,
        (ObservedSettings, ArgmaxSettings),
        lockstep=True,
        complete=with_model_hash,
    ),
    GOMCTS: PlayerKind(
        "Searches in what such a model imagines that its seat will see (GO-MCTS).",
        ObservationPlayer,
        (ObservedSettings, ObservationSearchSettings),
        complete=with_model_hash,
    ),
}
"""Every kind of player that a spec can name; besides these, it can name a file."""
OF_FILE = PlayerKind(
    "Your own: a Python file with decide(observation, legal, history), run in the sandbox; named "
    "with a hash of its text.",
    FilePlayer,
)


def kind_named(name: str) -> PlayerKind:
    """A kind of player by its name.

    Raises:
        PlayerSpecError: Listing those there are.
    """
    if name not in PLAYERS:
        raise PlayerSpecError(
            f"there is no player {name!r}{did_you_mean(name, PLAYERS)}; known players: "
            f"{', '.join(PLAYERS)}, or a file ending in .py"
        )
    return PLAYERS[name]


def parse_spec(text: str) -> PlayerSpec:
    """Read `NAME[:key=value,...]`, filling defaults in, or the path of a file.

    Raises:
        PlayerSpecError: Listing what is known, if a name, a key or a value is not.
        GameNotFoundError: If it names a file that cannot be read.

    >>> parse_spec("greedy").name
    'greedy:heuristic=ensemble'
    """
    name, _, rest = text.strip().partition(":")
    if name not in PLAYERS and (own := file_spec(text)) is not None:
        return own
    kind = kind_named(name)
    parameters = kind.parameters
    settings = filled(parameters, given_settings(name, parameters, rest))
    spec = PlayerSpec(player=name, settings=settings)
    try:
        for model in kind.settings:
            spec.part(model)
        kind.refuse_together(spec)
    except ValidationError as error:
        raise PlayerSpecError(f"{name}: {error.errors()[0]['ctx']['error']}") from error
    except ValueError as error:
        raise PlayerSpecError(f"{name}: {error}") from error
    return kind.complete(spec)


def make_player(spec: PlayerSpec, at: Seating) -> SeatedPlayer:
    """Make the player that a spec describes.

    Args:
        spec: From `parse_spec`.
        at: Where it sits; its sandbox must preload `PRELOAD`.

    Raises:
        PlayerSpecError: If the player cannot play this game, saying why and what can.
        ModuleFault: If the module or a heuristic does not load.
        SandboxUnavailableError: If no worker can be had.
    """
    return (OF_FILE if spec.player == FILE else kind_named(spec.player)).make(spec, at)


@dataclass(frozen=True)
class PlayerRoster:
    """Every kind of player that a spec can name: `tools.playtest.jobs.Roster`.

    Attributes:
        host_search: Whether searches run on the host; see `agents.players.hosted`.
        models: Whom players that are models ask; None where no endpoint is open.
    """

    host_search: bool = False
    models: "ModelTable | None" = None

    @property
    def preload(self) -> tuple[str, ...]:
        """See `Roster.preload`."""
        return PRELOAD

    def effective(self, spec: str) -> PlayerSpec:
        """See `Roster.effective`.

        Raises:
            PlayerSpecError: Listing what is known, if a name, a key or a value is not.

        >>> PlayerRoster().effective("greedy").settings
        {'heuristic': 'ensemble'}
        """
        return parse_spec(spec)

    def seat(
        self, player: PlayerSpec, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
    ) -> SeatedPlayer:
        """See `Roster.seat`.

        Raises:
            PlayerSpecError: If the player cannot play this game.
            ModuleFault: If the module or a heuristic does not load.
        """
        at = Seating(seat, game, sandbox, match, self.host_search, self.models)
        return make_player(player, at)

    def in_lockstep(self, player: PlayerSpec) -> bool:
        """See `Roster.in_lockstep`."""
        return player.player != FILE and kind_named(player.player).lockstep

    def require_files(self, spec: str, game: GameSetup, sandbox: Sandbox) -> None:
        """Refuse a player whose file, or a heuristic that it follows, is none.

        Raises:
            PlayerSpecError: Naming the file.
        """
        player = self.effective(spec)
        if player.player == FILE:
            path = str(player.settings["path"])
            require_function(path, read_source(path, "a player"), "decide", sandbox)
        asked = str(player.settings.get("heuristic", ""))
        if "heuristic" in (player.settings.get("leaf"), player.settings.get("opponent")):
            asked = ENSEMBLE
        for name in heuristics_named(asked, game.heuristics) if asked else ():
            if name in game.heuristics:  # else the player itself says what there is
                require_function(f"{name}.py", game.heuristics[name], HEURISTIC, sandbox)

    def can_play(self, spec: str, game: GameSetup, sandbox: Sandbox) -> bool:
        """True where a player takes a seat at a game; it leaves it at once.

        Raises:
            ModuleFault: If the module or a heuristic does not load.
        """
        try:
            self.seat(self.effective(spec), seat=0, match=0, game=game, sandbox=sandbox).close()
        except PlayerSpecError:
            return False
        return True


def suitable_search(game: GameSetup, sandbox: Sandbox, simulations: int) -> str:
    """The spec of UCT where a seat's view determines the state, else of ISMCTS; "" for neither.

    Raises:
        ModuleFault: If the module does not load.
    """
    specs = [f"{name}:simulations={simulations}" for name in ("uct", "ismcts")]
    able = (spec for spec in specs if PlayerRoster().can_play(spec, game, sandbox))
    return next(able, "")
