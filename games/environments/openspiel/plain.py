"""Games of OpenSpiel that no adapter shows as JSON: as the texts that OpenSpiel has of them.

A state is OpenSpiel's text with all that was done; so it tells what follows, whatever the text
leaves out. A seat sees OpenSpiel's text for it.
"""

from collections import Counter
from collections.abc import Sequence
from types import ModuleType

from games.environments import EnvironmentNotFoundError
from games.environments.openspiel import Encoding, Native, View, turn
from games.text import did_you_mean, one_line, skeleton
from games.values import CHANCE, MAX_PLAYERS, Action, Observation, State

_KEPT = 20_000  # matches whose actions are remembered by their words


def plain_game(spiel: ModuleType, name: str) -> tuple[Native, Encoding]:
    """A game by OpenSpiel's own name for it, `NAME` or `NAME(key=value,...)`, and its encoding.

    Choices at the same time become turns, of which nobody sees the others'.

    Raises:
        EnvironmentNotFoundError: If there is none, it needs parameters, or it cannot be a table's.
    """
    told = f"openspiel:{name}"
    plain = name.partition("(")[0]
    if plain not in (known := spiel.registered_names()):
        near = did_you_mean(plain, known)
        raise EnvironmentNotFoundError(
            f"no environment {told!r}: OpenSpiel has no game {plain!r}{near}; known to it are "
            f"{', '.join(known)}"
        )
    try:
        game = spiel.load_game(name)
    except (RuntimeError, TypeError, ValueError, LookupError) as error:
        raise EnvironmentNotFoundError(
            f"{told} is refused by OpenSpiel: {one_line(str(error))[:300]}; give its parameters as "
            f"openspiel:{plain}(key=value,...)"
        ) from error
    if why := _unsuited(spiel, game):
        raise EnvironmentNotFoundError(f"{told} cannot be played here: {why}; choose another game")
    if game.get_type().dynamics == spiel.GameType.Dynamics.SIMULTANEOUS:
        game = spiel.convert_to_turn_based(game)
    return game, Encoding(name, _Texts(game).view, names=_names, is_plain=True)


def plain_rules(game: Native) -> str:
    """The facts that OpenSpiel tells of a game, as it has no rules in words."""
    kind = game.get_type()
    facts = [
        ("players", game.num_players()),
        ("chance", str(kind.chance_mode).rpartition(".")[2].lower()),
        ("information", str(kind.information).rpartition(".")[2].lower()),
        ("returns of a match", f"from {game.min_utility():g} to {game.max_utility():g}"),
        ("plies", f"at most {game.max_game_length()} decisions"),
    ]
    lines = "\n".join(f"- {name}: {fact}." for name, fact in facts)
    return (
        f"# {one_line(kind.long_name)}\n\nOpenSpiel's game `{kind.short_name}`, of which it has no "
        f"rules in words: see its documentation.\n\n{lines}\n"
    )


def _unsuited(spiel: ModuleType, game: Native) -> str:
    """Why a game cannot be an environment; "" where it can."""
    kind, kinds = game.get_type(), spiel.GameType
    if kind.dynamics == kinds.Dynamics.MEAN_FIELD:
        return "it is a mean-field game, which has no seats"
    if game.num_players() > MAX_PLAYERS:
        return f"it has {game.num_players()} players, and a table {MAX_PLAYERS} seats at most"
    if kind.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
        return "it draws by itself, so that a match cannot be repeated"
    if kind.action_structs_only:
        return "its actions are structures, and no texts"
    if not (kind.provides_observation_string or kind.provides_information_state_string):
        return "it has no text of what a seat sees"
    return ""


def _names(native: Native, numbers: Sequence[int]) -> list[Action]:
    """OpenSpiel's words for actions on one line each, with the number where two look the same."""
    player = native.current_player()
    words = [one_line(native.action_to_string(player, number)) for number in numbers]
    looks = [skeleton(word) or "" for word in words]
    often = Counter(looks)
    return [
        f"{word} [{number}]".strip() if not look or often[look] > 1 else word
        for word, look, number in zip(words, looks, numbers, strict=True)
    ]


class _Texts:
    """The texts of the states of one game."""

    def __init__(self, game: Native) -> None:
        self._game = game
        self._said: dict[tuple[int, ...], list[Action]] = {}

    def view(self, native: Native) -> View:
        """See `Encoding.view`."""
        state: State = {
            "current_player": turn(native),
            "done": [*self._words(native)],
            "text": [*str(native).splitlines()],
        }
        return state, [self._seen(native, seat) for seat in range(native.num_players())]

    def _seen(self, native: Native, seat: int) -> Observation:
        sees = self._game.get_type().provides_observation_string
        read = native.observation_string if sees else native.information_state_string
        return {"my_player_id": seat, "text": [*read(seat).splitlines()]}

    def _words(self, native: Native) -> list[Action]:
        """All that was done, in words: only where it is taken is it known what it is called."""
        history = tuple(native.history())
        if history not in self._said:
            if len(self._said) >= _KEPT:
                self._said.clear()
            known = len(history)
            while known and history[:known] not in self._said:
                known -= 1
            here = self._game.new_initial_state()
            for action in history[:known]:
                here.apply_action(action)
            words = [*self._said.get(history[:known], [])]
            for action in history[known:]:
                words.append(_name_of(here, action))
                here.apply_action(action)
            self._said[history] = words
        return self._said[history]


def _name_of(native: Native, action: int) -> Action:
    """The name of an action that is taken."""
    if native.current_player() == CHANCE:
        numbers = [number for number, _ in native.chance_outcomes()]
    else:
        numbers = native.legal_actions()
    return _names(native, numbers)[numbers.index(action)]
