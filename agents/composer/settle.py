"""From what a brief says to settings that the library really has, with a reason for the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from agents.composer.accounting import CONTRADICTS, CORRECTED, CORRECTS
from agents.composer.lexicon import PLAYERS, Lexicon, Name, Phrase, Settings, game_of, value_text
from agents.composer.mentions import Mention, ParsedBrief
from agents.protocols import Choices, Clause, RoleError
from games.library import as_declared, source
from games.modules import LocalModule
from games.text import did_you_mean
from games.values import Json, ModuleFault

ALWAYS = "always so: "
"""How the setting of a clause begins that asks for what its family has anyway."""
_PARTNERS = 4
_OPEN = 0
"""A value that leaves the number to the game."""
_PROPER = 20
"""Weight from which a name is a game's own and not that of a kind of games."""


@dataclass(frozen=True)
class Base:
    """The values before the brief sets anything.

    Attributes:
        chosen: The preset the brief names, or the family.
        players: The usual number of players.
        parameters: All parameters.
    """

    chosen: str
    players: int
    parameters: Mapping[str, Json]


@dataclass
class Interpretation:
    """The reading of a brief, while it is worked out.

    Attributes:
        parsed: The brief.
        lexicon: The family's words.
        base: What holds where the brief says nothing.
        chosen: What the person fixed beside the brief; its words cannot change that.
        players: Number of players; 0 where the brief gives none.
        parameters: What the brief sets, over the preset.
        clauses: With the index of the clause's first token.
        owners: For each setting, index in `clauses` of the clause that set it.
        fullness: For each clause of `clauses` that a phrase gave, how many content words it has.
        assumptions: What the words left open.
        unseated: Number of players that was asked for and cannot be seated; 0: none.
    """

    parsed: ParsedBrief
    lexicon: Lexicon
    base: Base
    chosen: Choices
    players: int = 0
    parameters: dict[str, Json] = field(default_factory=dict)
    clauses: list[tuple[int, Clause]] = field(default_factory=list)
    owners: dict[str, int] = field(default_factory=dict)
    fullness: dict[int, int] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    unseated: int = 0

    def effective(self) -> tuple[int, dict[str, Json]]:
        """The number of players and all parameters: the base, then what the brief sets."""
        parameters = {**self.base.parameters, **self.parameters}
        usual = _PARTNERS if parameters.get("partnerships") is True else self.base.players
        return self.players or usual, parameters

    def honour(self, at: int, text: str, setting: str) -> None:
        """Note a clause that holds, with what it sets."""
        self.clauses.append((at, Clause(text=text, status="honoured", setting=setting)))

    def lose(self, at: int, text: str, reason: str, perhaps: str = "") -> None:
        """Note a clause that does not hold, with the reason."""
        lost = Clause(text=text, status="not_honoured", reason=reason, perhaps=perhaps)
        self.clauses.append((at, lost))

    def choose(self) -> None:
        """Begin with what the person chose: no word of the brief can change it.

        Raises:
            RoleError: If it is unknown or out of bounds.
        """
        chosen = {**self.chosen.settings}
        if self.chosen.num_players is not None:
            chosen[PLAYERS] = self.chosen.num_players
        wrong = [
            f"{name}={value_text(value)}: {objection}"
            for name, value in chosen.items()
            if (objection := self._objection(name, value))
        ]
        if wrong:
            known = ", ".join(game_of(self.lexicon.family).parameters)
            raise RoleError(f"{'; '.join(wrong)}. Its settings: {known}")
        self.players = self.chosen.num_players or 0
        self.parameters.update(self.chosen.settings)

    def hear(self, mention: Mention, settings: Settings | None) -> None:
        """Apply a mention and what it sets here; None where it sets nothing."""
        at, phrase = mention.covered[0], mention.source
        text = self.parsed.quote(at, mention.covered[-1])
        if isinstance(phrase, Name) and phrase.kin:
            self.lose(
                at, text, f"{phrase.kin}; the closest family, {self.lexicon.family}, is built"
            )
        elif isinstance(phrase, Name):
            self.honour(at, text, f"game={phrase.preset or self.lexicon.family}")
        else:
            full = len(self.parsed.content(mention.covered))
            self._take_back(mention, text, full, settings or {})
            self.fullness[len(self.clauses)] = len(self.parsed.tokens) if mention.exact else full
            if settings is None:
                self._describe(mention, phrase, text)
            elif self._assign(at, text, settings) and phrase.assumes:
                self.assumptions.append(f"{text!r}: {phrase.assumes}.")

    def _describe(self, mention: Mention, phrase: Phrase, text: str) -> None:
        """The fate of a phrase that sets nothing: it holds always, or not at all."""
        at, reason = mention.covered[0], phrase.refused
        if phrase.always and not mention.negated:
            return self.honour(at, text, f"{ALWAYS}{phrase.always}")
        if phrase.always:
            reason = f"in this family {phrase.always}, always"
        elif not reason:
            wanted = ", ".join(phrase.means(mention.capture))
            reason = f"it denies a value of {wanted} without saying which one to take"
        return self.lose(at, text, reason, _said(phrase.sets) if phrase.refused else "")

    def _take_back(self, mention: Mention, text: str, full: int, settings: Settings) -> None:
        """Drop what the person corrects ("9 columns - no wait, make that 7") or says more fully."""
        tokens = self.parsed.tokens
        for name, value in settings.items():
            owner = self.owners.get(name)
            if owner is None:
                continue
            end, begins = tokens[self.clauses[owner][0]].end, tokens[mention.covered[0]].start
            if CORRECTS.search(self.parsed.words[end:begins]):
                self._drop(name, CORRECTED)
            elif (
                name != PLAYERS
                and self.parameters[name] != value
                and self.fullness[owner] < full
                and can_be(self.lexicon, mention)
            ):
                self._drop(name, f"{CONTRADICTS} {text!r}, which says more")

    def _assign(self, at: int, text: str, settings: Settings) -> bool:
        """Set all that a clause sets, or nothing where one of it cannot be taken."""
        for name, value in settings.items():
            if reason := self._objection(name, value):
                self.lose(at, text, reason)
                return False
        for name, value in settings.items():
            if name == PLAYERS and isinstance(value, int):
                self.players = value
            else:
                self.parameters[name] = value
            if not self._is_chosen(name):
                self.owners.setdefault(name, len(self.clauses))
        self.honour(at, text, _said(settings))
        return True

    def _objection(self, name: str, value: Json) -> str:
        """Why a setting cannot be taken; empty where it can."""
        game = game_of(self.lexicon.family)
        before: Json = (self.players or None) if name == PLAYERS else self.parameters.get(name)
        if before is not None and before != value:
            if self._is_chosen(name):
                return f"{name}={value_text(before)} was chosen beside the brief"
            earlier = self.clauses[self.owners[name]][1].text
            return (
                f"{CONTRADICTS} {earlier!r}, which was taken ({name}={value_text(before)}, "
                f"not {value_text(value)})"
            )
        if name == PLAYERS:
            least, most = game.min_players, game.max_players
            if not isinstance(value, int) or not least <= value <= most:
                self.unseated = value if isinstance(value, int) else 0
                seats = f"{least}" if least == most else f"{least} to {most}"
                return f"{self.lexicon.one} is for {seats} players, not {value}"
            return ""
        if name not in game.parameters:
            near = did_you_mean(name, game.parameters)
            return f"the library's {self.lexicon.title} has no setting for it{near}"
        return game.parameters[name].objection(name, value)

    def _is_chosen(self, name: str) -> bool:
        if name == PLAYERS:
            return self.chosen.num_players is not None
        return name in self.chosen.settings

    def make_possible(self) -> None:
        """Give up, latest first, the setting without which the rest is possible.

        Raises:
            RoleError: If what the person chose is impossible by itself.
            ModuleFault: If the preset is.
        """
        while problem := self._problem(self.players, self.parameters):
            if self._relax(problem):
                return
            names = sorted(self.owners, key=lambda name: (name == PLAYERS, -self.owners[name]))
            if not names and self.chosen != Choices():
                raise RoleError(f"the chosen settings are not possible together: {problem}")
            if not names:
                said = f"preset {self.base.chosen} is impossible: {problem}"
                raise ModuleFault("raised", "initial_state", said)
            culprit = next((name for name in names if not self._problem_without(name)), names[0])
            self._drop(culprit, f"not possible together: {problem}")

    def _problem(self, players: int, parameters: dict[str, Json]) -> str:
        """Why so many players and these parameters, over the base, are no game."""
        whole = replace(self, players=players, parameters=parameters).effective()
        return impossible(self.lexicon.family, *whole) or self.lexicon.vain(*whole)

    def _problem_without(self, name: str) -> str:
        rest = {key: value for key, value in self.parameters.items() if key != name}
        return self._problem(0 if name == PLAYERS else self.players, rest)

    def _relax(self, problem: str) -> bool:
        """Drop the one value of the preset that stands against what the brief asks for."""
        usual = game_of(self.lexicon.family).defaults()
        for name, value in self.base.parameters.items():
            if value == usual[name] or name in self.parameters:
                continue
            if not self._problem(self.players, {**self.parameters, name: usual[name]}):
                self.parameters[name] = usual[name]
                self.assumptions.append(
                    f"{self.base.chosen} usually has {name}={value_text(value)}; {name}="
                    f"{value_text(usual[name])} was taken because of what the brief asks for "
                    f"({problem})."
                )
                return True
        return False

    def _drop(self, name: str, reason: str) -> None:
        """Take back the clause that set a setting, all that it set, and those that repeat it."""
        index, gone = self.owners[name], set[str]()
        for other in [key for key, owner in self.owners.items() if owner == index]:
            del self.owners[other]
            value = self.players if other == PLAYERS else self.parameters.pop(other, None)
            gone.add(f"{other}={value_text(value)}")
            if other == PLAYERS:
                self.players = 0
        for place, (at, clause) in enumerate(self.clauses):
            if place == index or gone.intersection(clause.setting.split(", ")):
                taken = Clause(text=clause.text, status="not_honoured", reason=reason)
                self.clauses[place] = at, taken

    def keep_usual(self, mentions: Sequence[Mention]) -> None:
        """Keep what a named game does anyway: thirteen cards each in hearts for four."""
        named = [m.source for m in mentions if isinstance(m.source, Name)]
        if not any(name.weight >= _PROPER for name in named):
            return
        for name, value in self.lexicon.usual(*self.effective()).items():
            own = self.base.parameters.get(name)
            if self.parameters.get(name) != value or own != _OPEN or name not in self.owners:
                continue
            index = self.owners[name]
            at, clause = self.clauses[index]
            kept = f"{name}={value_text(own)} ({value_text(value)} as usual)"
            setting = clause.setting.replace(f"{name}={value_text(value)}", kept)
            self.clauses[index] = at, Clause(text=clause.text, status="honoured", setting=setting)
            self.parameters[name] = own


def _said(settings: Settings) -> str:
    return ", ".join(f"{name}={value_text(value)}" for name, value in settings.items())


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
    settled = Interpretation(parsed, lexicon, base, _as_declared(choices or Choices(), lexicon))
    settled.choose()
    mentions = sorted(mentions, key=lambda mention: not mention.exact)
    meanings = _agreeing(lexicon, base, [_meaning(mention) for mention in mentions])
    meanings = lexicon.joined(meanings)
    said = [meaning for meaning in meanings if meaning is not None]
    for mention, meaning in zip(mentions, meanings, strict=True):
        here = None if meaning is None else lexicon.in_context(meaning, base.parameters, said)
        settled.hear(mention, here)
    settled.make_possible()
    settled.keep_usual(mentions)
    return settled


def _as_declared(choices: Choices, lexicon: Lexicon) -> Choices:
    """The choices with every setting as the game types it, however the person wrote it."""
    fields = game_of(lexicon.family).parameters
    settings = {
        name: as_declared(value, fields[name].model_dump(mode="json")) if name in fields else value
        for name, value in choices.settings.items()
    }
    return choices.model_copy(update={"settings": settings})


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


def _meaning(mention: Mention) -> Settings | None:
    """The setting of a phrase as it stands; None where it sets nothing."""
    phrase = mention.source
    if isinstance(phrase, Name) or phrase.always or phrase.refused:
        return None
    if not mention.negated:
        return phrase.means(mention.capture)
    return phrase.denied


def can_be(lexicon: Lexicon, mention: Mention) -> bool:
    """True where the family's settings take the values that a phrase sets."""
    known = game_of(lexicon.family).parameters
    said = (_meaning(mention) or {}).items()
    return not any(name in known and known[name].objection(name, value) for name, value in said)


def impossible(family: str, players: int, parameters: Mapping[str, Json]) -> str:
    """Why the verified module refuses these settings together; empty where it does not."""
    try:
        reference(family).call("initial_state", players, **parameters)
    except ModuleFault as fault:
        if not isinstance(fault.__cause__, ValueError):
            raise
        return str(fault.__cause__)
    return ""
