"""Coder and strategist without a model: the library's verified sources and heuristics.

A draft is the family's verified source with the design's settings.
"""

import ast
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pydantic import JsonValue

from agents.protocols import Attempt, CoderTools, Design, Edit, Heuristic, Mending, RoleError
from games.checks import Finding
from games.library import (
    families,
    handicapped_source,
    heuristic_sources,
    in_reading_order,
    own_and_handicaps,
    renumbered,
    rulebook,
    specialise,
)
from games.text import syntax_tree
from games.values import canonical_key


def verified_source(design: Design) -> str:
    """The verified module for a design (kept for the last few designs).

    Raises:
        RoleError: If the library does not have the design's family.
    """
    if design.family not in families():
        raise RoleError(
            f"the composer builds library families alone ({', '.join(families())}), "
            f"not {design.family!r}; a new game needs a language model"
        )
    fields = design.model_dump(include={"title", "summary", "num_players", "parameters"})
    return _specialised(design.family, canonical_key(fields))


@lru_cache(maxsize=16)
def _specialised(family: str, fields: str) -> str:
    values = json.loads(fields)
    own, more = own_and_handicaps(values["parameters"])
    own_rules = rulebook(family, own, values["num_players"])
    text = rulebook(family, values["parameters"], values["num_players"])
    return specialise(
        renumbered(handicapped_source(family, (*more,), own_rules), in_reading_order(text)[1]),
        name=values["title"],
        summary=values["summary"],
        num_players=values["num_players"],
        parameters=values["parameters"],
    )


class ComposerCoder:
    """Writes verified sources, and mends a source by comparing it with the verified one."""

    def draft(self, design: Design, tools: CoderTools) -> str:
        """Write the module; the verified source needs none of the tools."""
        return verified_source(design)

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        """Restore the verified source.

        Raises:
            RoleError: If the source already is the verified one: the composer has nothing left.
        """
        wanted = verified_source(design)
        if source == wanted:
            bad = (
                f"{f.check}: {f.evidence or f.outcome}" for f in findings if f.outcome != "passed"
            )
            said = (
                "the source is the verified one already; the composer has nothing left to propose"
            )
            raise RoleError(f"{said} for: {'; '.join(bad) or 'no finding was given'}")
        return Mending(
            cause="It was not the verified source.", edits=(Edit(search=source, replace=wanted),)
        )


class ComposerStrategist:
    """Takes the heuristics that the library keeps beside the family."""

    def heuristics(
        self, design: Design, source: str, samples: Sequence[Mapping[str, JsonValue]]
    ) -> Sequence[Heuristic]:
        """The family's heuristics, sorted by name.

        Raises:
            RoleError: If the library has none for the design's family.
        """
        sources = heuristic_sources(design.family) if design.family in families() else {}
        if not sources:
            raise RoleError(f"the library has no heuristics for {design.family!r}")
        found = []
        for name, text in sorted(sources.items()):
            policy = " ".join((ast.get_docstring(syntax_tree(text)) or "").split())
            found.append(Heuristic(name=name, policy=policy, source=text))
        return found

    def repair(
        self,
        design: Design,
        source: str,
        samples: Sequence[Mapping[str, JsonValue]],
        broken: Sequence[tuple[Heuristic, str]],
    ) -> Sequence[Heuristic]:
        """Nothing: the library's heuristics are as they are.

        Raises:
            RoleError: Always.
        """
        names = ", ".join(heuristic.name for heuristic, _ in broken)
        raise RoleError(f"the library has no other {names} for {design.family!r}")
