"""The mechanic designer without a model: a brief becomes a library family with its settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from agents.composer.families import lexicons
from agents.composer.questions import offer, question_for
from agents.composer.reader import Reading, find_reading, read
from agents.composer.rules import mechanic_graph, rules_of, summary_of
from agents.composer.settle import game_of
from agents.protocols import Brief, Clause, Design, Example, RoleError
from games.contract import Json

FAMILY_DISTANCE = 0.45
"""Largest distance (1 - cosine) at which a retrieved mechanic may choose the family."""
HINT_DISTANCE = 0.55
"""Largest distance at which a retrieved mechanic is named as what may have been meant."""

Retrieve = Callable[[str], Sequence[Example]]


class ComposerDesigner:
    """Sets the parameters of the closest library family from the brief's own words."""

    def clarify(self, prompt: str) -> Brief:
        """Read the person's words; see `agents.protocols.Designer.clarify`."""
        question = question_for(prompt)
        if question is not None:
            return Brief(prompt=prompt, question=question)
        reading = find_reading(prompt)
        return Brief(prompt=prompt, assumptions=reading.assumptions if reading else ())

    def design(self, brief: Brief, retrieve: Retrieve) -> Design:
        """Design a game; see `agents.protocols.Designer.design`."""
        question = question_for(brief.prompt)
        if question is not None:
            raise RoleError(question)
        reading = find_reading(brief.prompt) or _by_meaning(brief.prompt, retrieve)
        return _design(_with_hints(reading, retrieve), brief)


def _by_meaning(prompt: str, retrieve: Retrieve) -> Reading:
    """The family of the nearest mechanic, where it is near enough to be meant.

    Raises:
        RoleError: If nothing in the store is near enough.
    """
    for example in retrieve(prompt):
        family = example.id.split("/")[0]
        lexicon = next((x for x in lexicons() if x.family == family), None)
        if lexicon is not None and example.distance <= FAMILY_DISTANCE:
            reading = read(prompt, lexicon)
            made = f"By meaning, {example.title!r} is nearest (distance {example.distance:.2f})."
            return replace(reading, assumptions=(*reading.assumptions, made))
    raise RoleError(f"no game of the library is near this brief. {offer()}")


def _with_hints(reading: Reading, retrieve: Retrieve) -> Reading:
    """Name, beside each demand that no phrase explains, the setting it may have meant."""
    clauses = [_hinted(clause, reading, retrieve) for clause in reading.clauses]
    return replace(reading, clauses=tuple(clauses))


def _hinted(clause: Clause, reading: Reading, retrieve: Retrieve) -> Clause:
    if clause.status == "honoured" or not clause.reason.startswith("no setting of"):
        return clause
    for example in retrieve(clause.text):
        family, _, name = example.id.partition("/")
        name = name.rsplit("/", maxsplit=1)[-1]
        if (
            family == reading.lexicon.family
            and name in reading.parameters
            and example.distance <= HINT_DISTANCE
        ):
            hint = f"{clause.reason}; perhaps {name} was meant: {example.text.strip()}"
            return clause.model_copy(update={"reason": hint})
    return clause


def _design(reading: Reading, brief: Brief) -> Design:
    family = reading.lexicon.family
    rules = rules_of(family, reading.parameters, reading.num_players)
    mechanics, edges = mechanic_graph(rules, reading.asked, _meanings(family))
    return Design(
        title=reading.title,
        summary=summary_of(family, reading.parameters, reading.num_players),
        family=family,
        num_players=reading.num_players,
        parameters=reading.parameters,
        rules=rules,
        mechanics=mechanics,
        edges=edges,
        clauses=reading.clauses,
        assumptions=tuple(dict.fromkeys((*brief.assumptions, *reading.assumptions))),
    )


def _meanings(family: str) -> Mapping[str, str]:
    declared = cast("dict[str, dict[str, Json]]", game_of(family).get("parameters") or {})
    return {name: str(field.get("meaning", name)) for name, field in declared.items()}
