"""The strategist without a model: the library's heuristics of the family."""

import ast
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agents.protocols import Design, Heuristic, RoleError
from games.library import families, heuristic_sources


class ComposerStrategist:
    """Takes the heuristics that the library keeps beside the family."""

    def heuristics(
        self,
        design: Design,
        source: str,  # noqa: ARG002 - the protocol's
        samples: Sequence[Mapping[str, JsonValue]],  # noqa: ARG002 - the protocol's
    ) -> Sequence[Heuristic]:
        """The family's heuristics, sorted by name.

        Raises:
            RoleError: If the library has none for the design's family.
        """
        if design.family not in families():
            raise RoleError(f"the library has no heuristics for {design.family!r}")
        found = [
            Heuristic(name=name, policy=_policy(text), source=text)
            for name, text in sorted(heuristic_sources(design.family).items())
        ]
        if not found:
            raise RoleError(f"the library has no heuristics for {design.family!r}")
        return found


def _policy(source: str) -> str:
    """A heuristic's module docstring: the policy in words."""
    return " ".join((ast.get_docstring(ast.parse(source)) or "").split())
