"""Space of settings: those that are searched, with their values; and why others are not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from games.library import levers
from games.library.settings import GameParameter, value_text
from games.text import did_you_mean
from games.values import Json
from tools.balancing.targets import TargetError

_WIDE = 40  # times the least of a range: beyond, values are searched by their ratios

_TOLD = 5  # settings that an error names


class NothingToSearchError(TargetError):
    """No setting can be searched: a rule has to change."""


@dataclass(frozen=True)
class SettingsSpace:
    """The settings of a game.

    Attributes:
        free: What is searched, by name.
        start: All settings, as the search begins.
        fixed: Why others are not searched, by name.
    """

    free: Mapping[str, GameParameter]
    start: Mapping[str, Json]
    fixed: Mapping[str, str]

    def alone(self) -> list[dict[str, Json]]:
        """The start with one setting changed: a value of each setting, then another of each."""
        others = [
            (name, other_values(known, self.start[name])) for name, known in self.free.items()
        ]
        return [
            {**self.start, name: values[turn]}
            for turn in range(max(len(values) for _, values in others))
            for name, values in others
            if turn < len(values)
        ]

    def changed(self, settings: Mapping[str, Json]) -> dict[str, Json]:
        """Those of the settings that are not as at the start."""
        return {name: settings[name] for name in self.free if settings[name] != self.start[name]}


def declared_settings(info: Mapping[str, Json], family: str = "") -> dict[str, GameParameter]:
    """The parameters of a module, with the choices that its family lists where it declares none.

    Args:
        info: The module's `GAME`; a declaration that is none of ours can not be searched.
        family: The library's family that it is made from; empty for none.
    """
    fields = info.get("parameters")
    found = {}
    for name, field in fields.items() if isinstance(fields, dict) else ():
        try:
            known = GameParameter.model_validate(field)
        except ValidationError:
            known = GameParameter(default=None)
        if known.range is None and known.choices is None and family:
            known = known.model_copy(update={"choices": levers(family).get(name)})
        found[name] = known
    return found


def settings_space(
    declared: Mapping[str, GameParameter], start: Mapping[str, Json], free: Sequence[str] = ()
) -> SettingsSpace:
    """The space of a game.

    A value at the start is one of the choices, were it declared or not. A setting that starts
    outside its range is not searched.

    Args:
        declared: Its parameters.
        start: All settings, as the search begins.
        free: Names that are searched; none for all that can be.

    Raises:
        TargetError: If a name is unknown or cannot be searched.
        NothingToSearchError: If nothing can.
    """
    for name in free:
        if name not in declared:
            there = ", ".join(declared) or "none"
            raise TargetError(
                f"no setting {name}{did_you_mean(name, declared)}; known settings: {there}"
            )
    found, fixed = dict[str, GameParameter](), dict[str, str]()
    for name, field in declared.items():
        known = _with_start(name, field, start[name])
        why = _obstacle(name, known, start[name])
        if free and name not in free:
            why = why or "it is not among those to be searched"
        if why:
            fixed[name] = why
        else:
            found[name] = known
        if name in free and name in fixed:
            raise TargetError(f"{name} cannot be searched: {fixed[name]}; leave it out")
    if not found:
        told = "; ".join(f"{name}: {why}" for name, why in [*fixed.items()][:_TOLD])
        raise NothingToSearchError(
            f"no setting of this game can be searched ({told or 'it has none'}); a rule must "
            "change (rulewright revise), or its GAME must declare a range or choices"
        )
    return SettingsSpace(found, dict(start), fixed)


def _obstacle(name: str, known: GameParameter, value: Json) -> str:
    """Why a setting cannot be searched; empty where it can."""
    if known.range is None and known.choices is None:
        return "it declares neither a range nor choices"
    if any(isinstance(one, list | dict) for one in (value, *(known.choices or ()))):
        return "its choices are lists or tables"
    if apart := known.objection(name, value):
        return f"the search cannot start from it: {apart}"
    values = {value_text(one) for one in known.choices or known.range or ()}
    return "" if len(values) > 1 else "it has one value"


def _with_start(name: str, known: GameParameter, value: Json) -> GameParameter:
    """A setting whose choices hold the value that the search starts from."""
    if known.choices is None or not known.objection(name, value):
        return known
    return known.model_copy(update={"choices": [value, *known.choices]})


def is_wide(known: GameParameter) -> bool:
    """True for a range that is searched by ratios."""
    return known.range is not None and 1 <= known.range[0] < known.range[1] / _WIDE


def other_values(known: GameParameter, value: Json) -> list[Json]:
    """Other values: all choices; of a range the middles to its ends, its ends, the neighbours."""
    if known.choices is not None or known.range is None:
        return [one for one in known.choices or () if value_text(one) != value_text(value)]
    least, most = known.range
    at = value if isinstance(value, int) else least
    steps = [round((least + at) / 2), round((at + most) / 2), least, most, at - 1, at + 1]
    if is_wide(known):
        steps[:2] = [round((least * at) ** 0.5), round((at * most) ** 0.5)]
    return [n for n in dict.fromkeys(steps) if least <= n <= most and n != at]
