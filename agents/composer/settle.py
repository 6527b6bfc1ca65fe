"""From what a brief says to settings that the library really has, with a reason for the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from agents.composer.accounting import CONTRADICTS, CORRECTED, CORRECTS
from agents.composer.lexicon import PLAYERS, Lexicon, Name, Phrase, Settings, game_of, value_text
from agents.composer.mentions import Mention, ParsedBrief
from agents.protocols import Choices, Clause, RoleError
from games.contract import Json, LocalModule, ModuleFault
from games.library import as_declared, source
from games.text import did_you_mean

ALWAYS = "always so: "
"""How the setting of a clause begins that asks for what its family has anyway."""
_PARTNERS = 4
_OPEN = 0
"""A value that leaves the number to the game."""
_PROPER = 20
"""Weight from which a name is a game's own and not that of a kind of games."""


@dataclass
class Interpretation:
    """What a brief comes to, while it is worked out.

    Attributes:
        players: Number of players; 0 where the brief gives none.
        parameters: What the brief sets, over the preset.
        clauses: With the index of the clause's first token.
        owners: For each setting, index in `clauses` of the clause that set it.
        fullness: For each clause of `clauses` that a phrase gave, how many content words it has.
        assumptions: What the words left open.
        chosen: What the person fixed beside the brief; its words cannot change that.
        unseated: Number of players that was asked for and cannot be seated; 0: none.
    """

    players: int = 0
    parameters: dict[str, Json] = field(default_factory=dict)
    clauses: list[tuple[int, Clause]] = field(default_factory=list)
    owners: dict[str, int] = field(default_factory=dict)
    fullness: dict[int, int] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    chosen: Choices = field(default_factory=Choices)
    unseated: int = 0


@dataclass(frozen=True)
class Base:
    """What holds before the brief sets anything.

    Attributes:
        chosen: The preset the brief names, or the family.
        players: The usual number of players.
        parameters: All parameters.
    """

    chosen: str
    players: int
    parameters: Mapping[str, Json]


@cache
def reference(family: str) -> LocalModule:
    """The family's verified module, loaded once: library code, never a candidate's."""
    return LocalModule(source(family), family)


def settle(
    parsed: ParsedBrief,
    lexicon: Lexicon,
    base: Base,
    mentions: Sequence[Mention],
    choices: Choices | None = None,
) -> Interpretation:
    """Apply the mentions, exact ones first; what cannot be applied becomes a reason.

    Raises:
        RoleError: If what the person chose is unknown, out of bounds or impossible.
    """
    settled = Interpretation(chosen=_as_declared(choices or Choices(), lexicon))
    _choose(settled, lexicon)
    mentions = sorted(mentions, key=lambda mention: not mention.exact)
    meanings = _agreeing(lexicon, base, [_meaning(mention) for mention in mentions])
    meanings = lexicon.joined(meanings)
    said = [meaning for meaning in meanings if meaning is not None]
    for mention, meaning in zip(mentions, meanings, strict=True):
        text = parsed.quote(mention.covered[0], mention.covered[-1])
        if isinstance(mention.source, Name):
            _name(settled, mention.covered[0], text, lexicon, mention.source)
        else:
            settings = meaning
            if meaning is not None:
                settings = lexicon.in_context(meaning, base.parameters, said)
            _take_back(settled, parsed, lexicon, mention, settings or {})
            full = len(parsed.tokens) if mention.exact else len(parsed.content(mention.covered))
            settled.fullness[len(settled.clauses)] = full
            _phrase(settled, mention, mention.source, text, lexicon, settings)
    _make_possible(settled, lexicon, base)
    _keep_usual(settled, lexicon, base, mentions)
    return settled


def _as_declared(choices: Choices, lexicon: Lexicon) -> Choices:
    """The choices with every setting as the game types it, however the person wrote it."""
    fields = game_of(lexicon.family).parameters
    settings = {
        name: as_declared(value, fields[name].model_dump(mode="json")) if name in fields else value
        for name, value in choices.settings.items()
    }
    return choices.model_copy(update={"settings": settings})


def _choose(settled: Interpretation, lexicon: Lexicon) -> None:
    """Begin with what the person chose: no word of the brief can change it."""
    chosen = {**settled.chosen.settings}
    if settled.chosen.num_players is not None:
        chosen[PLAYERS] = settled.chosen.num_players
    wrong = [
        f"{name}={value_text(value)}: {objection}"
        for name, value in chosen.items()
        if (objection := _objection(Interpretation(), lexicon, name, value))
    ]
    if wrong:
        known = ", ".join(game_of(lexicon.family).parameters)
        raise RoleError(f"{'; '.join(wrong)}. Its settings: {known}")
    settled.players = settled.chosen.num_players or 0
    settled.parameters.update(settled.chosen.settings)


def _agreeing(
    lexicon: Lexicon, base: Base, meanings: Sequence[Settings | None]
) -> list[Settings | None]:
    """The whole pack dealt, thirteen each: that says one thing twice, and the number is kept."""
    said = [meaning for meaning in meanings if meaning is not None]
    together = {name: value for meaning in said for name, value in meaning.items()}
    asked = together.get(PLAYERS)
    players = asked if asked and isinstance(asked, int) else base.players
    parameters = {**base.parameters, **together}
    twice = {
        name: value
        for name, value in lexicon.usual(players, parameters).items()
        if {meaning[name] for meaning in said if name in meaning} == {_OPEN, value}
    }
    return [
        meaning and {name: twice.get(name, value) for name, value in meaning.items()}
        for meaning in meanings
    ]


def _keep_usual(
    settled: Interpretation, lexicon: Lexicon, base: Base, mentions: Sequence[Mention]
) -> None:
    """What a named game does anyway stays its own: thirteen cards each in hearts for four."""
    proper = any(isinstance(h.source, Name) and h.source.weight >= _PROPER for h in mentions)
    players, parameters = effective(settled, base)
    if not proper:
        return
    for name, value in lexicon.usual(players, parameters).items():
        if settled.parameters.get(name) != value or base.parameters[name] != _OPEN:
            continue
        if name not in settled.owners:
            continue
        index = settled.owners[name]
        at, clause = settled.clauses[index]
        kept = f"{name}={value_text(base.parameters[name])} ({value_text(value)} as usual)"
        setting = clause.setting.replace(f"{name}={value_text(value)}", kept)
        settled.clauses[index] = at, Clause(text=clause.text, status="honoured", setting=setting)
        settled.parameters[name] = base.parameters[name]


def _name(settled: Interpretation, at: int, text: str, lexicon: Lexicon, name: Name) -> None:
    if name.kin:
        reason = f"{name.kin}; the closest family, {lexicon.family}, is built"
        settled.clauses.append((at, Clause(text=text, status="not_honoured", reason=reason)))
    else:
        setting = f"game={name.preset or lexicon.family}"
        settled.clauses.append((at, Clause(text=text, status="honoured", setting=setting)))


def _meaning(mention: Mention) -> Settings | None:
    """What a phrase sets as it stands, or None where it sets nothing."""
    phrase = mention.source
    if isinstance(phrase, Name) or phrase.always or phrase.refused:
        return None
    if not mention.negated:
        return phrase.means(mention.capture)
    return phrase.denied


def _phrase(
    settled: Interpretation,
    mention: Mention,
    phrase: Phrase,
    text: str,
    lexicon: Lexicon,
    settings: Settings | None,
) -> None:
    at = mention.covered[0]
    if settings is not None:
        _assign(settled, at, text, lexicon, settings)
        if phrase.assumes and settled.clauses[-1][1].status == "honoured":
            settled.assumptions.append(f"{text!r}: {phrase.assumes}.")
        return
    if phrase.always and not mention.negated:
        setting = f"{ALWAYS}{phrase.always}"
        settled.clauses.append((at, Clause(text=text, status="honoured", setting=setting)))
        return
    reason = phrase.refused
    if phrase.always:
        reason = f"in this family {phrase.always}, always"
    elif not reason:
        wanted = ", ".join(phrase.means(mention.capture))
        reason = f"it denies a value of {wanted} without saying which one to take"
    told = phrase.sets if phrase.refused else {}
    perhaps = ", ".join(f"{name}={value_text(value)}" for name, value in told.items())
    lost = Clause(text=text, status="not_honoured", reason=reason, perhaps=perhaps)
    settled.clauses.append((at, lost))


def _take_back(
    settled: Interpretation,
    parsed: ParsedBrief,
    lexicon: Lexicon,
    mention: Mention,
    settings: Settings,
) -> None:
    """Drop what the person corrects ("9 columns - no wait, make that 7") or says more fully."""
    full, begins = len(parsed.content(mention.covered)), parsed.tokens[mention.covered[0]].start
    for name, value in settings.items():
        owner = settled.owners.get(name)
        if owner is None:
            continue
        said, _ = settled.clauses[owner]
        if CORRECTS.search(parsed.words[parsed.tokens[said].end : begins]):
            _drop(settled, name, CORRECTED)
        elif (
            name != PLAYERS
            and settled.parameters[name] != value
            and settled.fullness[owner] < full
            and can_be(lexicon, mention)
        ):
            text = parsed.quote(mention.covered[0], mention.covered[-1])
            _drop(settled, name, f"{CONTRADICTS} {text!r}, which says more")


def _assign(
    settled: Interpretation, at: int, text: str, lexicon: Lexicon, settings: Mapping[str, Json]
) -> None:
    for name, value in settings.items():
        reason = _objection(settled, lexicon, name, value)
        if reason:
            settled.clauses.append((at, Clause(text=text, status="not_honoured", reason=reason)))
            return
    for name, value in settings.items():
        if name == PLAYERS and isinstance(value, int):
            settled.players = value
        else:
            settled.parameters[name] = value
        if not _is_chosen(settled, name):
            settled.owners.setdefault(name, len(settled.clauses))
    setting = ", ".join(f"{name}={value_text(value)}" for name, value in settings.items())
    settled.clauses.append((at, Clause(text=text, status="honoured", setting=setting)))


def _objection(settled: Interpretation, lexicon: Lexicon, name: str, value: Json) -> str:
    """Why a setting cannot be taken; empty where it can."""
    game = game_of(lexicon.family)
    before: Json = (settled.players or None) if name == PLAYERS else settled.parameters.get(name)
    if before is not None and before != value and _is_chosen(settled, name):
        return f"{name}={value_text(before)} was chosen beside the brief"
    if before is not None and before != value:
        earlier = settled.clauses[settled.owners[name]][1].text
        return (
            f"{CONTRADICTS} {earlier!r}, which was taken ({name}={value_text(before)}, "
            f"not {value_text(value)})"
        )
    if name == PLAYERS:
        least, most = game.min_players, game.max_players
        if not isinstance(value, int) or not least <= value <= most:
            settled.unseated = value if isinstance(value, int) else 0
            seats = f"{least}" if least == most else f"{least} to {most}"
            return f"{lexicon.one} is for {seats} players, not {value}"
        return ""
    if name not in game.parameters:
        near = did_you_mean(name, game.parameters)
        return f"the library's {lexicon.title} has no setting for it{near}"
    return game.parameters[name].objection(name, value)


def can_be(lexicon: Lexicon, mention: Mention) -> bool:
    """Whether the values that a phrase sets are such as the family's settings take."""
    known = game_of(lexicon.family).parameters
    said = (_meaning(mention) or {}).items()
    return not any(name in known and known[name].objection(name, value) for name, value in said)


def _is_chosen(settled: Interpretation, name: str) -> bool:
    if name == PLAYERS:
        return settled.chosen.num_players is not None
    return name in settled.chosen.settings


def effective(settled: Interpretation, base: Base) -> tuple[int, dict[str, Json]]:
    """The number of players and all parameters: the base, then what the brief sets."""
    parameters = {**base.parameters, **settled.parameters}
    usual = _PARTNERS if parameters.get("partnerships") is True else base.players
    return settled.players or usual, parameters


def impossible(family: str, players: int, parameters: Mapping[str, Json]) -> str:
    """Why the verified module refuses these settings together; empty where it does not."""
    try:
        reference(family).call("initial_state", players, **parameters)
    except ModuleFault as fault:
        if not isinstance(fault.__cause__, ValueError):
            raise
        return str(fault.__cause__)
    return ""


def _make_possible(settled: Interpretation, lexicon: Lexicon, base: Base) -> None:
    """Give up, latest first, the setting without which the rest is possible."""
    while problem := impossible(lexicon.family, *effective(settled, base)):
        if _relax(settled, lexicon, base, problem):
            return
        names = sorted(settled.owners, key=lambda name: (name == PLAYERS, -settled.owners[name]))
        if not names and settled.chosen != Choices():
            raise RoleError(f"the chosen settings are not possible together: {problem}")
        if not names:
            raise ModuleFault(
                "raised", "initial_state", f"preset {base.chosen} is impossible: {problem}"
            )
        culprit = next((n for n in names if not _problem_without(settled, lexicon, base, n)), "")
        _give_up(settled, culprit or names[0], problem)


def _relax(settled: Interpretation, lexicon: Lexicon, base: Base, problem: str) -> bool:
    """Drop the one value of the preset that stands against what the brief asks for."""
    usual = game_of(lexicon.family).defaults()
    for name, value in base.parameters.items():
        if value == usual[name] or name in settled.parameters:
            continue
        trial = Interpretation(settled.players, {**settled.parameters, name: usual[name]})
        if not impossible(lexicon.family, *effective(trial, base)):
            settled.parameters[name] = usual[name]
            settled.assumptions.append(
                f"{base.chosen} usually has {name}={value_text(value)}; {name}="
                f"{value_text(usual[name])} was taken because of what the brief asks for "
                f"({problem})."
            )
            return True
    return False


def _problem_without(settled: Interpretation, lexicon: Lexicon, base: Base, name: str) -> str:
    rest = {key: value for key, value in settled.parameters.items() if key != name}
    players = 0 if name == PLAYERS else settled.players
    trial = Interpretation(players=players, parameters=rest)
    return impossible(lexicon.family, *effective(trial, base))


def _give_up(settled: Interpretation, name: str, problem: str) -> None:
    _drop(settled, name, f"not possible together: {problem}")


def _drop(settled: Interpretation, name: str, reason: str) -> None:
    """Take back the clause that set a setting, with all that it set, and those that repeat it."""
    index, gone = settled.owners[name], set[str]()
    for other in [key for key, owner in settled.owners.items() if owner == index]:
        del settled.owners[other]
        value = settled.players if other == PLAYERS else settled.parameters.pop(other, None)
        gone.add(f"{other}={value_text(value)}")
        if other == PLAYERS:
            settled.players = 0
    for place, (at, clause) in enumerate(settled.clauses):
        if place == index or gone.intersection(clause.setting.split(", ")):
            taken = Clause(text=clause.text, status="not_honoured", reason=reason)
            settled.clauses[place] = at, taken
