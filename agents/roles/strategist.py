"""The strategist, asked of a chat model: policies in words, reviewed, then as code."""

import ast
import json
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field, JsonValue, ValidationError

from agents.model.chat import ChatModel
from agents.model.errors import MalformedReplyError, ReplyError
from agents.model.replies import ask_structured
from agents.prompting import load_prompt
from agents.protocols import Design, Heuristic, RoleError
from agents.roles.texts import rules_text
from tools.playtest.of_run.played import with_each_kind
from tools.sandbox.reading import foreign_tree

POLICIES = 4  # of each kind: Cardiverse §C.3 finds no gain from six
_SHOWN_FUNCTIONS = ("get_observations", "get_legal_actions", "parse_action")
_SAMPLES, _SAMPLE_LENGTH = 4, 2_500
_TAKEN = ("ensemble", "scores")  # what a player calls all heuristics together


class _Closed(BaseModel, extra="forbid"):
    """An object without other keys than these."""


class PolicyReply(_Closed):
    """One policy in words."""

    name: str = Field(description="In snake_case.")
    policy: str = Field(description="The policy in two to four sentences.")


class PoliciesReply(_Closed):
    """Different policies."""

    policies: list[PolicyReply]


class HeuristicReply(_Closed):
    """One policy as code."""

    name: str = Field(description="The policy's name, as given.")
    source: str = Field(description="Python source that defines score(observation, action).")


class HeuristicsReply(_Closed):
    """The policies as code."""

    heuristics: list[HeuristicReply]


class ModelStrategist:
    """See `agents.protocols.Strategist`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def heuristics(
        self, design: Design, source: str, samples: Sequence[Mapping[str, JsonValue]]
    ) -> Sequence[Heuristic]:
        """See `Strategist.heuristics`: strategies, metrics, and the strategies reviewed.

        A policy whose code is missing comes without source; the others are there to be used.

        Raises:
            MalformedReplyError: If no policies could be read.
        """
        seen = _shown(design, source, samples)
        rules = rules_text(design)
        strategies = self._policies("strategist_policies", rules=rules, kind="strategies")
        metrics = self._policies("strategist_policies", rules=rules, kind="metrics")
        reviewed = self._policies(
            "strategist_review", rules=rules, strategies=strategies, metrics=metrics
        )
        policies = _named_apart([*strategies, *metrics, *reviewed])
        found: list[Heuristic] = []
        for first in range(0, len(policies), POLICIES):
            some = policies[first : first + POLICIES]
            try:
                sources = self._sources("strategist_code", some, **seen, policies=some)
            except MalformedReplyError:
                sources = {}
            found += [
                Heuristic(**one.model_dump(), source=sources.get(one.name, "")) for one in some
            ]
        return found

    def repair(
        self,
        design: Design,
        source: str,
        samples: Sequence[Mapping[str, JsonValue]],
        broken: Sequence[tuple[Heuristic, str]],
    ) -> Sequence[Heuristic]:
        """See `Strategist.repair`; all of them, in one call."""
        asked = [one for one, _ in broken]
        told = [{**one.model_dump(), "why": why} for one, why in broken]
        seen = _shown(design, source, samples)
        sources = self._sources("strategist_repair", asked, **seen, broken=told)
        named = [one for one in asked if one.name in sources]
        return [one.model_copy(update={"source": sources[one.name]}) for one in named]

    def _policies(self, prompt: str, **values: object) -> list[PolicyReply]:
        messages = load_prompt(prompt).fill(**values, count=POLICIES)
        return ask_structured(self.model, messages, PoliciesReply, _to_policies)

    def _sources(
        self, prompt: str, asked: Sequence[PolicyReply | Heuristic], **values: object
    ) -> dict[str, str]:
        messages = load_prompt(prompt).fill(**values)
        names = [one.name for one in asked]
        return ask_structured(
            self.model, messages, HeuristicsReply, lambda reply: _to_sources(reply, names)
        )


def _shown(
    design: Design, source: str, samples: Sequence[Mapping[str, JsonValue]]
) -> dict[str, str]:
    """The parts of the game that every prompt for code shows."""
    texts = []
    count = min(_SAMPLES, len(samples))  # from early in a match to late
    places = [number * (len(samples) - 1) // max(1, count - 1) for number in range(count)]
    for sample in with_each_kind([samples[n] for n in places], samples):
        text = json.dumps(dict(sample), separators=(",", ":"))
        more = len(text) - _SAMPLE_LENGTH
        texts.append(text[:_SAMPLE_LENGTH] + (f" [cut: {more} more]" if more > 0 else ""))
    return {
        "rules": rules_text(design),
        "functions": _functions(source),
        "samples": "\n".join(texts),
    }


def _functions(source: str) -> str:
    """The functions of a module that show how observations and actions are written."""
    try:
        tree = foreign_tree(source)
    except SyntaxError as error:
        raise RoleError(f"the module does not parse at line {error.lineno}: {error.msg}") from error
    found = [
        ast.get_source_segment(source, node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name in _SHOWN_FUNCTIONS
    ]
    return "\n\n\n".join(found)


def _to_policies(reply: PoliciesReply) -> list[PolicyReply]:
    if len(reply.policies) != POLICIES:
        raise ReplyError(f"it has {len(reply.policies)} policies; required: {POLICIES}")
    if len({one.name for one in reply.policies}) != POLICIES:
        raise ReplyError("policies have the same name; required: different ones")
    for one in reply.policies:
        if one.name.startswith("not_") or one.name in _TAKEN:
            raise ReplyError(f"the name {one.name!r} is taken; required: another one")
        try:
            Heuristic(**one.model_dump(), source="")
        except ValidationError as error:
            problem = error.errors()[0]
            raise ReplyError(f"{problem['msg']}, got {problem['input']!r}") from error
    return reply.policies


def _named_apart(policies: Sequence[PolicyReply]) -> list[PolicyReply]:
    """The policies under different names; a later one of the same name gets a number."""
    found: dict[str, PolicyReply] = {}
    for one in policies:
        name, number = one.name, 2
        while name in found:
            name, number = f"{one.name}_{number}", number + 1
        found[name] = one.model_copy(update={"name": name})
    return list(found.values())


def _to_sources(reply: HeuristicsReply, names: Sequence[str]) -> dict[str, str]:
    said = [item.name for item in reply.heuristics]
    found = {item.name: item.source for item in reply.heuristics if item.name in names}
    if not found or any(said.count(name) > 1 for name in names):
        raise ReplyError(
            f"its names are {', '.join(said) or 'none'}; required, once each: {', '.join(names)}"
        )
    return found
