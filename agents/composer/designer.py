"""The mechanic designer without a model: a brief becomes a library family with its settings."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from agents.composer.accounting import CORRECTED
from agents.composer.lexicon import PLAYERS, Lexicon, game_of
from agents.composer.loader import lexicon_of, lexicons
from agents.composer.meaning.evidence import as_it_holds, with_rules
from agents.composer.meaning.fit import BAR, LONGEST, asks, judge, offer, question_for
from agents.composer.meaning.revising import (
    changes,
    heard,
    known_of,
    nothing_changed,
    overridden,
    reply_on,
    understood_on,
)
from agents.composer.meaning.settings import setting_meant
from agents.composer.meaning.statements import Embed
from agents.composer.mentions import parse_brief, settings_chosen
from agents.composer.reader import (
    NO_SETTING,
    Reading,
    family_scores,
    find_reading,
    own_title,
    read,
    reading_near,
)
from agents.protocols import (
    Brief,
    Choices,
    Clause,
    Design,
    Fit,
    Mechanic,
    MechanicEdge,
    NoFitError,
    Revision,
    RoleError,
    Rule,
    Section,
    Talk,
)
from games.library import in_reading_order, names, preset, rulebook
from games.text import did_you_mean
from games.values import Json
from vectorstore.documents import Example

Retrieve = Callable[[str], Sequence[Example]]
_SHOWN = 12
_OTHERS = 2
_FEW_KEPT = 2
_RULE = re.compile(r"^- (R\d+): (.+)$")
_SECTIONS = frozenset(get_args(Section))
_LEADS_TO = {
    "Components": "Setup",
    "Game State": "Setup",
    "Setup": "Turn",
    "Legal Actions": "Turn",
    "Observations": "Legal Actions",
    "Turn": "Rounds and Phases",
    "Rounds and Phases": "",
    "Scoring": "",
}
"""What each section's mechanics contribute to; nothing means the end of the game itself."""


class ComposerDesigner:
    """Sets the parameters of the library family that a brief asks for, from its own words.

    Without `embed` it judges fit by words alone: a game is made where most demands are understood.
    """

    def __init__(self, embed: Embed | None = None) -> None:
        self.embed = embed

    def clarify(self, prompt: str, asked: Sequence[str] = ()) -> Brief:
        """Read the person's words; see `agents.protocols.Designer.clarify`."""
        question = question_for(prompt, judged=self.embed is not None)
        return Brief(prompt=prompt, question=question, anew=question is not None)

    def design(self, brief: Brief, retrieve: Retrieve) -> Design:
        """Design a game; see `agents.protocols.Designer.design`."""
        brief = _corrected(brief)
        reading = self._reading(brief)
        clauses = tuple(
            _doubted(clause, reading, self.embed, brief.choices.settings)
            for clause in reading.clauses
        )
        return _design(replace(reading, clauses=clauses), brief)

    def revise(self, design: Design, brief: Brief, talk: Talk) -> Revision:
        """Set what the message says in the design at hand; see `agents.protocols.Designer.revise`.

        A question is answered from the play-test's figures and the rules.

        Raises:
            RoleError: If the library does not have the design's family.
        """
        if len(talk.message) > LONGEST:
            return Revision(reply=f"At most {LONGEST} characters are read; say it in fewer.")
        try:
            lexicon = chosen_family(design.family)
        except RoleError as error:
            return Revision(reply=f"Nothing was changed: {error}")
        named = find_reading(talk.message)
        if named is not None and named.named and named.lexicon.family != design.family:
            return Revision(reply=f"That is another game, a {named.lexicon.title}.", other=True)
        said = understood_on(design, lexicon, talk.message, self.embed)
        changed = changes(design, said, talk.message)
        titled = own_title(talk.message)
        changed |= {"title": titled} if titled not in ("", design.title) else {}
        if asks(talk.message) or (not changed and talk.message.rstrip().endswith("?")):
            return Revision(reply=known_of(design, talk))
        lost = [clause for clause in said.clauses if clause.status != "honoured"]
        if not changed or (lost and settings_chosen(talk.message)):  # pairs alone: all or none
            return Revision(reply=nothing_changed(said))
        try:
            made = self._changed(design, said, changed, talk)
        except RoleError as error:
            return Revision(reply=f"Nothing was changed: {error}")
        found = _design(made, Brief(prompt=talk.message if titled else brief.words))
        reply = reply_on(changed, found.clauses[len(design.clauses) :])
        return Revision(reply=reply, design=found)

    def _changed(
        self, design: Design, said: Reading, changed: Mapping[str, Json], talk: Talk
    ) -> Reading:
        """The design at hand as a reading of its family, with the changes.

        Raises:
            RoleError: If they are not possible together.
        """
        settings = {**design.parameters, **changed}
        settings.pop("title", None)
        seats = settings.pop(PLAYERS, design.num_players)
        choices = Choices.model_validate(
            {"family": design.family, "num_players": seats, "settings": settings}
        )
        reading = read("", said.lexicon, choices)
        now = {**reading.parameters, PLAYERS: reading.num_players}
        old = (_settled(overridden(c, changed, now, talk), reading) for c in design.clauses)
        new = (_doubted(clause, reading, self.embed, {}) for clause in heard(said, changed))
        usual = game_of(design.family).defaults()
        return replace(
            reading,
            clauses=(*old, *new),
            assumptions=design.assumptions,
            asked={n: v for n, v in reading.parameters.items() if v != usual[n]},
        )

    def _reading(self, brief: Brief) -> Reading:
        """The brief as a game of the family that the person chose, or of the one it fits."""
        choices = brief.choices
        if choices.family is not None:
            return read(brief.prompt, chosen_family(choices.family), choices, self.embed)
        question = question_for(brief.prompt, judged=self.embed is not None)
        if question is not None:
            raise RoleError(question)
        if self.embed is None:
            found = find_reading(brief.prompt, choices)
            if found is None:
                raise RoleError(f"no game of the library is near this brief. {offer()}")
            kept, lost = _kept_and_lost(found)
            if not found.named and len(kept) < len(lost) / _FEW_KEPT:
                raise _no_fit(found, "most of it has no setting there", brief.prompt)
        else:
            scores = family_scores(parse_brief(brief.prompt))
            judged = judge(brief.prompt, self.embed, scores)
            found = reading_near(brief.prompt, {judged.family}, scores, choices, self.embed)
            kept, lost = _kept_and_lost(found)
            if judged.fits(len(kept), len(lost)) < BAR:
                why = f"it is nearer to another kind of game ({judged.other})"
                raise _no_fit(found, why, brief.prompt)
        if found.unseated:
            raise _no_fit(found, f"that is not for {found.unseated} players", brief.prompt)
        return found


def _kept_and_lost(reading: Reading) -> tuple[list[str], list[str]]:
    """The demands that a reading honours, and those that it does not; none that was taken back."""
    kept = [c.text for c in reading.clauses if c.status == "honoured"]
    lost = [c for c in reading.clauses if c.status != "honoured" and c.reason != CORRECTED]
    return kept, [c.text for c in lost]


def _no_fit(reading: Reading, why: str, words: str) -> NoFitError:
    """The refusal: what is nearest, what it would keep and lose, and what to do."""
    family, title = reading.lexicon.family, reading.lexicon.title
    kept, lost = _kept_and_lost(reading)
    said = [
        f"No family of the library is this game. The nearest is {reading.lexicon.one}, but {why}: "
        f"it keeps {len(kept)} of {len(kept) + len(lost)} demands."
    ]
    scores = family_scores(parse_brief(words))
    others = sorted((f for f in scores if scores[f] and f != family), key=lambda f: -scores[f])
    also = " or ".join(f"--family {other}" for other in others[:_OTHERS])
    said += [f"Next to it: {also}."] if also else []
    said += [f"It would lose: {'; '.join(map(repr, lost[:_SHOWN]))}."] if lost else []
    said.append(
        "With a language model (set RULEWRIGHT_MODEL) rules that no family has are written as "
        f"code. To make the {title} all the same, without what it would lose: answer yes, or "
        f"--family {family}. Other words are added to the idea."
    )
    fit = Fit(family=family, kept=tuple(kept), lost=tuple(lost))
    return NoFitError("\n".join(said), fit)


def chosen_family(name: str) -> Lexicon:
    """The words of a family, or of a preset's.

    Raises:
        RoleError: If the library has neither of that name.
    """
    if name not in names():
        said = f"no family or preset is called {name!r}{did_you_mean(name, names())}; known: "
        raise RoleError(said + ", ".join(names()))
    return lexicon_of(preset(name).family)


def require_choices(choices: Choices, *, settings: bool) -> None:
    """Refuse choices that no game of the library can be made with.

    Args:
        choices: What the person fixed beside the brief.
        settings: Whether seats and settings are the library's too, and not a model's.

    Raises:
        RoleError: Saying what is allowed.
    """
    family = choices.family and chosen_family(choices.family)
    if settings and family:
        read("", family, choices)
    elif settings and choices != Choices():
        known = {lexicon.family for lexicon in lexicons()}
        try:
            reading_near("", known, dict.fromkeys(known, 0), choices)
        except RoleError as error:
            asked = str(choices.model_dump(exclude_defaults=True)).replace("'", "")
            said = f"no family takes {asked}; see rulewright games NAME, for NAME one of "
            raise RoleError(said + ", ".join(sorted(known))) from error


def _corrected(brief: Brief) -> Brief:
    """The brief with its corrections as its last words; what they set goes before all others."""
    choices = brief.choices
    for words in brief.corrections:
        said = find_reading(words)
        other = said is not None and said.lexicon != chosen_family(choices.family or said.chosen)
        if said is not None and said.named and other:
            choices = choices.but(Choices(family=said.chosen))
        if choices.family is not None:
            said = read(words, chosen_family(choices.family))
            players = said.num_players if said.seated else None
            choices = choices.but(Choices(num_players=players, settings=said.asked))
    return brief.model_copy(update={"prompt": brief.words, "corrections": (), "choices": choices})


def _settled(clause: Clause, reading: Reading) -> Clause:
    """The clause; honoured where the setting that it may have meant holds by now."""
    if not _holds(clause.perhaps, reading):
        return clause
    return Clause(text=clause.text, status="honoured", setting=clause.perhaps)


def _holds(setting: str, reading: Reading) -> bool:
    """True where the game has "name=value"."""
    name, _, value = setting.partition("=")
    holds = {**reading.parameters, PLAYERS: reading.num_players}.get(name)
    return bool(name) and (holds if isinstance(holds, str) else json.dumps(holds)) == value


def _doubted(
    clause: Clause, reading: Reading, embed: Embed | None, chosen: Mapping[str, Json]
) -> Clause:
    """The clause; where no phrase explains it, with the setting that it may have meant.

    Where the person chose that setting since, or it holds anyway, the clause is no doubt.
    """
    if embed is None or clause.status == "honoured" or not clause.reason.startswith(NO_SETTING):
        return clause
    taken = reading.asked.keys() - chosen.keys()
    meant = setting_meant(clause.text, reading.lexicon, taken, embed)
    if meant.partition("=")[0] in chosen:
        return _settled(clause.model_copy(update={"perhaps": meant}), reading)
    if _holds(meant, reading):
        return clause  # what it may have meant is so already: nothing to ask
    reason = f"{clause.reason}; perhaps {meant} was meant" if meant else clause.reason
    return clause.model_copy(update={"reason": reason, "perhaps": meant})


def _design(reading: Reading, brief: Brief) -> Design:
    family = reading.lexicon.family
    text = rulebook(family, reading.parameters, reading.num_players)
    rules = _rules_of(family, reading.parameters, reading.num_players)
    meanings = {name: field.meaning for name, field in game_of(family).parameters.items()}
    mechanics, edges = _mechanic_graph(rules, reading.asked, meanings)
    design = Design(
        title=own_title(brief.prompt) or _title_of(text),
        summary=_summary_of(text),
        family=family,
        num_players=reading.num_players,
        parameters=reading.parameters,
        rules=rules,
        mechanics=mechanics,
        edges=edges,
        clauses=tuple(
            as_it_holds(c, reading.lexicon.phrases, reading.parameters) for c in reading.clauses
        ),
        assumptions=tuple(dict.fromkeys((*brief.assumptions, *reading.assumptions))),
    )
    return with_rules(design, _rules_of)


def _rules_of(family: str, parameters: Mapping[str, Json], players: int) -> tuple[Rule, ...]:
    """The family's rulebook for these settings, rule by rule.

    Raises:
        RoleError: If the rulebook has a section that a design does not know, or no rule.
    """
    section = ""
    rules = []
    text, _ = in_reading_order(rulebook(family, parameters, players))
    for line in text.splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip()
            if section not in _SECTIONS:
                raise RoleError(
                    f"the rulebook of {family} has the section {section!r}; a design knows "
                    f"{', '.join(sorted(_SECTIONS))}"
                )
        elif match := _RULE.match(line):
            rule = {"id": match[1], "section": section, "text": match[2].strip()}
            rules.append(Rule.model_validate(rule))
    if not rules:
        raise RoleError(f"the rulebook of {family} has no rule line '- R1: ...'")
    return tuple(rules)


def _title_of(text: str) -> str:
    """A rulebook's heading."""
    title = text.splitlines()[0].removeprefix("#").strip()
    return title[:1].upper() + title[1:]


def _summary_of(text: str) -> str:
    """A rulebook's opening paragraph."""
    paragraphs = [part.strip() for part in text.split("\n\n")]
    return " ".join(next(p for p in paragraphs if p and not p.startswith("#")).split())


def _mechanic_graph(
    rules: Sequence[Rule], asked: Mapping[str, Json], meanings: Mapping[str, str]
) -> tuple[tuple[Mechanic, ...], tuple[MechanicEdge, ...]]:
    """A graph rooted at 'the game ends' (M0); an edge leads from a mechanic to what it serves.

    One mechanic a section of the rulebook, one a rule of scoring or of a phase, and one for every
    setting that the brief asks for.
    """
    mechanics = [Mechanic(id="M0", name="the game ends", text="The match is over and scored.")]
    edges: list[MechanicEdge] = []
    of_section: dict[str, str] = {}
    present = [s for s in _LEADS_TO if any(rule.section == s for rule in rules)]
    for section in present:
        ids = ", ".join(rule.id for rule in rules if rule.section == section)
        of_section[section] = _add(mechanics, section.lower(), f"Rules {ids}.")
    for section in present:
        target = _LEADS_TO[section]
        while target and target not in of_section:
            target = _LEADS_TO[target]
        edges.append(MechanicEdge(source=of_section[section], target=of_section.get(target, "M0")))
    for rule in rules:
        if rule.section in ("Scoring", "Rounds and Phases"):
            added = _add(mechanics, f"rule {rule.id}", rule.text)
            edges.append(MechanicEdge(source=added, target=of_section[rule.section]))
    for name, value in asked.items():
        text = f"{meanings.get(name) or name} Here: {value}."
        edges.append(MechanicEdge(source=_add(mechanics, name, text), target=_serves(of_section)))
    return tuple(mechanics), tuple(edges)


def _add(mechanics: list[Mechanic], name: str, text: str) -> str:
    identity = f"M{len(mechanics)}"
    mechanics.append(Mechanic(id=identity, name=name.replace("_", " "), text=text))
    return identity


def _serves(of_section: Mapping[str, str]) -> str:
    order = ("Setup", "Turn", "Rounds and Phases", "Scoring")
    return next((of_section[name] for name in order if name in of_section), "M0")
