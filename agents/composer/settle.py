"""From what a brief says to settings that the library really has, with a reason for the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.composer.lexicon import Lexicon, Settings
from agents.composer.meaning.brief import CORRECTS, Parsed
from agents.composer.meaning.suggest import SAID, Stated
from agents.protocols import Choices, RoleError
from games.library import as_declared, own_and_handicaps
from games.library.settings import PLAYERS, game_of, impossible, value_text
from games.text import did_you_mean
from games.values import Json, ModuleFault

CLASH = "it contradicts"
CORRECTED = "the person corrected it afterwards"
_PARTNERS = 4


@dataclass
class Settled:
    """Settings of a game, while they are worked out.

    Attributes:
        parsed: The brief.
        lexicon: The family's words.
        chosen: The family, or the preset that the brief names.
        choices: What the person fixed beside the brief; its words cannot change that.
        base: All settings where the brief says nothing, with `num_players`.
        settings: What the brief and the choices set, over them.
        owners: For each setting of the brief, what said it first.
        taken: All that was said and taken.
        lost: What could not be taken, with the reason.
        assumptions: What was taken without being said.
        unseated: Number of players that was asked for and cannot be seated; 0: none.
    """

    parsed: Parsed
    lexicon: Lexicon
    chosen: str
    choices: Choices
    base: Mapping[str, Json]
    settings: dict[str, Json] = field(default_factory=dict)
    owners: dict[str, Stated] = field(default_factory=dict)
    taken: list[Stated] = field(default_factory=list)
    lost: list[tuple[Stated, str]] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    unseated: int = 0

    def whole(self, settings: Settings | None = None) -> tuple[int, dict[str, Json]]:
        """The number of players and all parameters: the base, then what is set."""
        given = self.settings if settings is None else settings
        parameters = {**self.base, **given}
        seats = int(str(parameters.pop(PLAYERS)))
        own, more = own_and_handicaps(parameters)
        parameters = {**own, **more}
        if parameters.get("partnerships") is True and PLAYERS not in given:
            seats = _PARTNERS
        return seats, parameters

    def choose(self) -> None:
        """Begin with what the person chose: no word of the brief can change it.

        Raises:
            RoleError: If it is unknown or out of bounds.
        """
        fields = game_of(self.lexicon.family).every
        for name, value in self.choices.settings.items():
            known = fields[name].model_dump(mode="json") if name in fields else None
            self.settings[name] = as_declared(value, known) if known else value
        if self.choices.num_players is not None:
            self.settings[PLAYERS] = self.choices.num_players
        wrong = [
            f"{name}={value_text(value)}: {objection}"
            for name, value in self.settings.items()
            if (objection := self._objection(name, value))
        ]
        if wrong:
            raise RoleError(f"{'; '.join(wrong)}. Its settings: {', '.join(fields)}")

    def hear(self, said: Stated) -> None:
        """Set all that some words set, or nothing where one of it cannot be taken.

        What was chosen beside the brief stays alone: the rest of the words is heard.
        """
        said = self._without_choices(said)
        for name, value in said.sets.items():
            owner, before = self.owners.get(name), self.settings.get(name)
            reason = self._objection(name, value)
            if not reason and owner is not None and before not in (None, value):
                if self._corrects(owner, said):
                    self.drop(name, CORRECTED)
                elif self._corrects(said, owner):
                    reason = CORRECTED
                elif owner.sure < SAID:  # neither is certain: it stays as it is
                    self.drop(name, f"{CLASH} {self.parsed.quote(said.run)!r}; neither was taken")
                    reason = f"{CLASH} {self.parsed.quote(owner.run)!r}; neither was taken"
                else:
                    reason = (
                        f"{CLASH} {self.parsed.quote(owner.run)!r}, which was taken "
                        f"({name}={value_text(before)}, not {value_text(value)})"
                    )
            if reason:
                self.lost.append((said, reason))
                return
        for name, value in said.sets.items():
            if name not in self.settings:
                self.owners[name] = said
            self.settings[name] = value
        self.taken += [said] if said.sets else []

    def _without_choices(self, said: Stated) -> Stated:
        """The same without what was chosen otherwise beside the brief, which is lost."""
        rest = dict(said.sets)
        for name, value in said.sets.items():
            if name not in self.owners and (chosen := self.settings.get(name)) not in (None, value):
                reason = f"{name}={value_text(chosen)} was chosen beside the brief"
                self.lost.append((said, reason))
                del rest[name]
        return replace(said, sets=rest)

    def _corrects(self, earlier: Stated, later: Stated) -> bool:
        """True where words between two others take back the earlier ones."""
        tokens = self.parsed.tokens
        end, begins = tokens[earlier.run[-1]].end, tokens[later.run[0]].start
        between = self.parsed.words[end : max(end, begins)]
        return later.run[0] > earlier.run[0] and CORRECTS.search(between) is not None

    def _objection(self, name: str, value: Json) -> str:
        """Why a setting cannot be taken; empty where it can."""
        game = game_of(self.lexicon.family)
        if name == PLAYERS:
            least, most = game.min_players, game.max_players
            if type(value) is not int or not least <= value <= most:
                self.unseated = value if type(value) is int else 0
                seats = f"{least}" if least == most else f"{least} to {most}"
                return f"{self.lexicon.one} is for {seats} players, not {value}"
            return ""
        if name not in game.every:
            near = did_you_mean(name, game.every)
            return f"the library's {self.lexicon.title} has no setting for it{near}"
        return game.every[name].objection(name, value)

    def drop(self, name: str, reason: str) -> None:
        """Take back what set a setting, with all that it set."""
        first = self.owners[name]
        value = first.sets[name]
        for other in first.sets:
            if self.owners.get(other) is first:
                del self.owners[other], self.settings[other]
        gone = [said for said in self.taken if said is first or said.sets.get(name) == value]
        self.taken = [said for said in self.taken if said not in gone]
        self.lost += [(said, reason) for said in gone]

    def make_possible(self) -> None:
        """Give up, least sure first, the setting without which the rest is possible.

        Raises:
            RoleError: If what the person chose is impossible by itself.
            ModuleFault: If the preset is.
        """
        while problem := self._problem(self.settings):
            if self._relaxed(problem):
                continue
            names = sorted(self.owners, key=lambda name: (name == PLAYERS, self.owners[name].sure))
            if not names and self.choices != Choices():
                raise RoleError(f"the chosen settings are not possible together: {problem}")
            if not names:
                said = f"preset {self.chosen} is impossible: {problem}"
                raise ModuleFault("raised", "initial_state", said)
            rest = {n: {k: v for k, v in self.settings.items() if k != n} for n in names}
            culprit = next((name for name in names if not self._problem(rest[name])), names[0])
            self.drop(culprit, f"not possible together: {problem}")

    def _problem(self, settings: Settings) -> str:
        """Why these settings, over the base, are no game."""
        whole = self.whole(settings)
        return impossible(self.lexicon.family, *whole) or self.lexicon.vain(*whole)

    def _relaxed(self, problem: str) -> bool:
        """True where one value of the preset, that stands against the rest, was given up."""
        for name, usual in game_of(self.lexicon.family).defaults().items():
            if self.base[name] == usual or name in self.settings:
                continue
            if not self._problem({**self.settings, name: usual}):
                self.base = {**self.base, name: usual}
                self.assumptions.append(
                    f"{self.chosen} usually has another {name}; {name}={value_text(usual)} was "
                    f"taken because of what the brief asks for ({problem})."
                )
                return True
        return False


def settle(
    parsed: Parsed, lexicon: Lexicon, chosen: str, said: Sequence[Stated], choices: Choices
) -> Settled:
    """Apply what was said, the surest first; what cannot be applied gets a reason.

    Raises:
        RoleError: If what the person chose is unknown, out of bounds or impossible.
    """
    players, own = lexicon.start(chosen)
    base = {**game_of(lexicon.family).defaults(), **own, PLAYERS: players}
    settled = Settled(parsed, lexicon, chosen, choices, base)
    settled.choose()
    joined = lexicon.joined([one.sets for one in said])
    for one, sets in zip(said, joined, strict=True):
        here = lexicon.in_context(sets, base, joined)
        settled.hear(replace(one, sets=here))
    settled.make_possible()
    return settled
