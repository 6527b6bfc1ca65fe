"""Players and their settings, as a spec can name them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Setting: TypeAlias = int | float | str
_SHOWN = 40  # characters of what a person typed that an error quotes
LARGEST = 1e9  # beyond any use, and below where clocks and loops overflow


class PlayerSpecError(ValueError):
    """A player that does not exist, is set up wrongly, or cannot play this game."""


@dataclass(frozen=True)
class Parameter:
    """One setting of a player.

    Attributes:
        name: Its key.
        default: Its value where none is given; its type is the setting's type.
        meaning: What it does, with its unit.
        least: Smallest number allowed.
        choices: Words allowed, where it is a word from a list.
        most: Largest number allowed, finite.
        when: The setting that decides whether this one is used, and its values with which it
            is; where there are no values, any number above 0.
    """

    name: str
    default: Setting
    meaning: str
    least: float = 0
    choices: tuple[str, ...] = ()
    most: float = LARGEST
    when: tuple[str, tuple[str, ...]] | None = None

    def read(self, text: str) -> Setting:
        """The value that `text` stands for.

        Raises:
            PlayerSpecError: If it is no such value.
        """
        if isinstance(self.default, str):
            if self.choices and text not in self.choices:
                known = ", ".join(self.choices)
                raise PlayerSpecError(f"{self.name} is {_shown(text)}; known values: {known}")
            return text
        kind = type(self.default)
        refusal = (
            f"{self.name} is {_shown(text)}; required: {'a whole' if kind is int else 'a finite'} "
            f"number >= {self.least:g} and <= {self.most:,.0f}"
        )
        try:
            value = kind(text)
        except ValueError as error:
            raise PlayerSpecError(refusal) from error
        if not self.least <= value <= self.most:
            raise PlayerSpecError(refusal)
        return value

    def is_used(self, settings: Mapping[str, Setting]) -> bool:
        """Whether it has an effect beside the other settings of its player."""
        if self.when is None:
            return True
        name, values = self.when
        if name not in settings:
            return False
        return settings[name] in values if values else float(settings[name]) > 0


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


@dataclass(frozen=True)
class PlayerInfo:
    """One kind of player.

    Attributes:
        name: Its name in a spec.
        meaning: What it does.
        parameters: Its settings.
    """

    name: str
    meaning: str
    parameters: tuple[Parameter, ...] = ()
