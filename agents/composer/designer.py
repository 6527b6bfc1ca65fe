"""The mechanic designer without a model: a brief becomes a library family with its settings."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agents.composer.lexicon import Lexicon, lexicon_of, lexicons
from agents.composer.meaning.brief import Parsed
from agents.composer.meaning.family import (
    BAR,
    LONGEST,
    fits,
    names_in,
    offer,
    probabilities,
    question_for,
)
from agents.composer.meaning.revising import (
    asks,
    changes,
    known_of,
    nothing_changed,
    overridden,
    reply_on,
    settled_later,
)
from agents.composer.meaning.statements import Embed
from agents.composer.reader import Reading, own_title, read, still_assumed
from agents.composer.settle import CLASH
from agents.evidence import with_rules
from agents.protocols import (
    Brief,
    Choices,
    Clause,
    Design,
    Fit,
    NoFitError,
    Revision,
    RoleError,
    Rule,
    Talk,
)
from games.library import exemplars, in_reading_order, names, preset, rulebook
from games.library.annotated import family_graph
from games.library.settings import PLAYERS, game_of, settings_chosen
from games.text import did_you_mean
from games.values import Json
from vectorstore.documents import Example

Retrieve = Callable[[str], Sequence[Example]]
_SHOWN = 12
_OTHERS = 2
_OTHER_KIND = "it is more like a game of another kind"
_RULE = re.compile(r"^- (R\d+): (.+)$")


class ComposerDesigner:
    """Sets the parameters of the library family that a brief asks for, from its own words.

    Without `embed` it judges by words alone.
    """

    def __init__(self, embed: Embed | None = None) -> None:
        self.embed = embed

    def clarify(self, prompt: str, asked: Sequence[str] = ()) -> Brief:
        """Read the person's words; see `agents.protocols.Designer.clarify`."""
        question = question_for(prompt)
        return Brief(prompt=prompt, question=question, anew=question is not None)

    def design(self, brief: Brief, retrieve: Retrieve) -> Design:
        """Design a game; see `agents.protocols.Designer.design`."""
        brief = self._corrected(brief)
        if brief.choices.family is not None:
            lexicon = chosen_family(brief.choices.family)
            return _design(read(brief.prompt, lexicon, brief.choices, self.embed), brief)
        question = question_for(brief.prompt)
        if question is not None:
            raise RoleError(question)
        return _design(self._fitting(brief), brief)

    def _fitting(self, brief: Brief) -> Reading:
        """The brief as a game of the family that it is most probably.

        Raises:
            NoFitError: If it is not probable enough, or most of it cannot be kept.
            RoleError: If no family takes what the person chose.
        """
        scores = probabilities(brief.prompt, self.embed)
        named = _named(brief.prompt)
        likely = sorted(zip(-scores[:-1], lexicons(), strict=True), key=operator.itemgetter(0))
        order = [lexicon for _, lexicon in likely]
        if len(named) == 1 and -likely[0][0] < BAR:
            order = [*named, *order]  # too few words to tell it by
        found = _first(order, brief.prompt, brief.choices, self.embed)
        others = [lexicon.family for lexicon in order if lexicon != found.lexicon]
        sure = float(scores[lexicons().index(found.lexicon)])
        if found.unseated:
            raise _no_fit(found, f"that is not for {found.unseated} players", others)
        if not fits(sure, len(found.kept), len(found.lost), named=found.named):
            unread = "most of what the brief says is not read as one of its settings"
            raise _no_fit(found, unread if sure >= BAR else _OTHER_KIND, others)
        if not brief.choices.settings and any(c.reason.startswith(CLASH) for c in found.clauses):
            both = (read(brief.prompt, each, brief.choices, self.embed) for each in order)
            return next(filter(_keeps_all, both), found)
        return found

    def revise(self, design: Design, brief: Brief, talk: Talk) -> Revision:
        """Set what the message says in the design at hand; see `agents.protocols.Designer.revise`.

        A question is answered from the play-test's figures and the rules.
        """
        if len(talk.message) > LONGEST:
            return Revision(reply=f"At most {LONGEST} characters are read; say it in fewer.")
        try:
            lexicon = chosen_family(design.family)
            said = read(talk.message, lexicon, None, self.embed)
        except RoleError as error:
            return Revision(reply=f"Nothing was changed: {error}")
        if (other := _named(talk.message)) and lexicon not in other:
            return Revision(reply=f"That is another game, {other[0].one}.", other=True)
        changed = changes(design, said, talk.message)
        titled = own_title(talk.message)
        changed |= {"title": titled} if titled not in ("", design.title) else {}
        if asks(talk.message) or (not changed and talk.message.rstrip().endswith("?")):
            return Revision(reply=known_of(design, talk))
        if not changed or (said.lost and settings_chosen(talk.message)):  # pairs: all or none
            return Revision(reply=nothing_changed(said))
        try:
            made = _changed(design, said, changed, talk)
        except RoleError as error:
            return Revision(reply=f"Nothing was changed: {error}")
        found = _design(made, Brief(prompt=talk.message if titled else brief.words))
        lost = [
            new for new, old in zip(found.clauses, design.clauses, strict=False) if _lost(old, new)
        ]
        if lost and (both := self._of_another_family(lexicon, brief, talk.message)):
            reply = f"Made {both.lexicon.one} of it, which keeps {lost[0].text!r} too."
            return Revision(reply=reply, design=_design(both, brief))
        reply = reply_on(changed, found.clauses[len(design.clauses) :])
        return Revision(reply=reply, design=found)

    def _of_another_family(self, now: Lexicon, brief: Brief, message: str) -> Reading | None:
        """All that was said as a game of another family that honours every word of it, if any."""
        if brief.choices.family is not None:
            return None
        try:
            words = f"{brief.words}\n{message}"
            found = self._fitting(brief.model_copy(update={"prompt": words, "corrections": ()}))
        except RoleError:
            return None
        return found if found.lexicon != now and _keeps_all(found) else None

    def _corrected(self, brief: Brief) -> Brief:
        """The brief with its corrections as its last words; what they set goes before others."""
        choices = brief.choices
        for text in brief.corrections:
            named = _named(text)
            if named and (choices.family is None or chosen_family(choices.family) not in named):
                choices = choices.but(Choices(family=named[0].family))
            if choices.family is not None:
                said = read(text, chosen_family(choices.family), None, self.embed)
                players = said.num_players if said.seated else None
                choices = choices.but(Choices(num_players=players, settings=said.asked))
        update = {"prompt": brief.words, "corrections": (), "choices": choices}
        return brief.model_copy(update=update)


def _keeps_all(found: Reading) -> bool:
    """True if it surely honours every demand but the names of games of other families."""
    return all(
        (c.status == "honoured" and not c.reason)
        or (_named(c.text) and not c.reason.startswith(CLASH))
        for c in found.clauses
    )


def _lost(before: Clause, after: Clause) -> bool:
    return before.status == "honoured" != after.status


def _named(text: str) -> list[Lexicon]:
    """The families whose games are named in a text."""
    parsed = Parsed.of(text)
    return [lexicon for lexicon in lexicons() if names_in(parsed, lexicon)]


def _changed(design: Design, said: Reading, changed: Mapping[str, Json], talk: Talk) -> Reading:
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
    old = (overridden(clause, changed, now, talk) for clause in design.clauses)
    usual = game_of(design.family).defaults()
    return replace(
        reading,
        clauses=(*old, *settled_later(said, changed)),
        assumptions=still_assumed(design.assumptions, changed),
        asked={
            name: value for name, value in reading.parameters.items() if value != usual.get(name)
        },
    )


def _no_fit(reading: Reading, why: str, others: Sequence[str]) -> NoFitError:
    """The refusal: what is nearest, what it would keep and lose, and what to do."""
    family, title = reading.lexicon.family, reading.lexicon.title
    kept, lost = reading.kept, reading.lost
    near = f"The nearest is {reading.lexicon.one}, but {why}: it keeps"
    if lost and not kept:
        near = f"None is near it: {reading.lexicon.one}, of which the words remind most, keeps"
    said = [
        f"No family of the library is this game. {near} {len(kept)} of {len(kept) + len(lost)} "
        "demands.",
        *(
            [f"Next to it: {' or '.join(f'--family {one}' for one in others[:_OTHERS])}."]
            * bool(kept)
        ),
    ]
    said += [f"It would lose: {'; '.join(map(repr, lost[:_SHOWN]))}."] if lost else []
    said.append(
        "With a language model (set RULEWRIGHT_MODEL) rules that no family has are written as "
        f"code. To make the {title} all the same, without what it would lose: answer yes, or "
        f"--family {family}. Other words are added to the idea."
    )
    return NoFitError("\n".join(said), Fit(family=family, kept=tuple(kept), lost=tuple(lost)))


def chosen_family(name: str) -> Lexicon:
    """The words of a family, or of a preset's.

    Raises:
        RoleError: If the library has neither of that name.
    """
    if name not in exemplars():
        known = ", ".join(exemplars())
        if name in names():
            told = f"{name} is played as it is (rulewright play {name}); no game is made from it"
        else:
            told = f"no family or preset is called {name!r}{did_you_mean(name, exemplars())}"
        raise RoleError(f"{told}; known: {known}")
    return lexicon_of(preset(name).family)


def refuse_impossible(choices: Choices, *, settings: bool) -> None:
    """Refuse choices that no game of the library can be made with.

    Args:
        choices: What the person fixed beside the brief.
        settings: Whether seats and settings are the library's too, and not a model's.

    Raises:
        RoleError: Saying what is allowed.
    """
    order = [chosen_family(choices.family)] if choices.family else list(lexicons())
    try:
        if settings:
            _first(order, "", choices, None)
    except RoleError as error:
        if choices.family:
            raise
        asked = str(choices.model_dump(exclude_defaults=True)).replace("'", "")
        known = ", ".join(sorted(lexicon.family for lexicon in order))
        said = f"no family takes {asked}; see rulewright games NAME, for NAME one of {known}"
        raise RoleError(said) from error


def _first(order: Sequence[Lexicon], text: str, choices: Choices, embed: Embed | None) -> Reading:
    """A brief as a game of the first of these families that takes what the person chose.

    Raises:
        RoleError: If none does.
    """
    refusal = None
    for lexicon in order:
        try:
            return read(text, lexicon, choices, embed)
        except RoleError as error:
            refusal = refusal or error
    raise refusal or RoleError(offer())


def library_design(name: str, players: int = 0) -> Design:
    """A library game as it is, as a design; with its usual number of players by default.

    Raises:
        UnknownGameError: If the library has none of that name.
    """
    chosen = preset(name)
    settings = {**game_of(chosen.family).defaults(), **chosen.parameters}
    return family_design(chosen.family, settings, players or chosen.players)


def _design(reading: Reading, brief: Brief) -> Design:
    made = family_design(reading.lexicon.family, reading.parameters, reading.num_players)
    update = {
        "title": own_title(brief.prompt) or made.title,
        "clauses": reading.clauses,
        "assumptions": tuple(dict.fromkeys((*brief.assumptions, *reading.assumptions))),
    }
    return with_rules(made.model_copy(update=update), _rules_of)


def family_design(family: str, parameters: Mapping[str, Json], players: int) -> Design:
    """A family's game: its rulebook's rules and its own mechanics."""
    text = rulebook(family, parameters, players)
    heading = text.splitlines()[0].removeprefix("#").strip()
    graph = family_graph(family, parameters, players)
    return Design(
        title=f"{heading[:1].upper()}{heading[1:]}",
        summary=_summary_of(text),
        family=family,
        num_players=players,
        parameters=dict(parameters),
        rules=_rules_of(family, parameters, players),
        mechanics=graph.nodes,
        edges=graph.edges,
    )


def _rules_of(family: str, parameters: Mapping[str, Json], players: int) -> tuple[Rule, ...]:
    """The family's rulebook for these settings, rule by rule."""
    section = ""
    rules = []
    text, _ = in_reading_order(rulebook(family, parameters, players))
    for line in text.splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip()
        elif match := _RULE.match(line):
            rule = {"id": match[1], "section": section, "text": match[2].strip()}
            rules.append(Rule.model_validate(rule))
    return tuple(rules)


def _summary_of(text: str) -> str:
    """A rulebook's opening paragraph."""
    paragraphs = [part.strip() for part in text.split("\n\n")]
    return " ".join(next(p for p in paragraphs if p and not p.startswith("#")).split())
