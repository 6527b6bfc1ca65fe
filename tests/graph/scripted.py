"""Roles that work from a script over the library: no model, no reading of prompts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from agents.protocols import (
    Attempt,
    Brief,
    Claim,
    CoderTools,
    Design,
    Edit,
    Heuristic,
    Mending,
    RefusedTest,
    Revision,
    RoleError,
    RoleSet,
    Rule,
    Talk,
    Verdict,
    Vote,
)
from games import library
from games.checks import Finding
from games.checks.unit_tests import UnitTest
from games.mechanics import Mechanic, MechanicEdge
from games.records import MatchRecord
from games.table import Position
from vectorstore.documents import Example

DESIGN = Design(
    title="Noughts and crosses",
    summary="Three in a row.",
    family="tic_tac_toe",
    num_players=2,
    rules=(Rule(id="R1", section="Turn", text="Players take turns to mark an empty cell."),),
    mechanics=(
        Mechanic(id="M0", name="the game ends", text="The game ends."),
        Mechanic(id="M1", name="line", text="A line of three wins."),
    ),
    edges=(MechanicEdge(source="M1", target="M0"),),
)


@dataclass
class ScriptedRoles:
    """All four roles; `faults` are edits that break the verified source, mended one a round."""

    faults: list[tuple[str, str]] = field(default_factory=list)
    mends: bool = True
    question: str | None = None
    calls: list[str] = field(default_factory=list)

    def clarify(self, prompt: str, asked: Sequence[str] = ()) -> Brief:
        self.calls.append("clarify")
        return Brief(prompt=prompt, question=self.question)

    def design(self, brief: Brief, retrieve: Callable[[str], Sequence[Example]]) -> Design:
        self.calls.append("design")
        return DESIGN

    def revise(self, design: Design, brief: Brief, talk: Talk) -> Revision:
        """A question is answered; "rename" changes no rule; all else is a new rule."""
        self.calls.append("revise")
        if talk.message.endswith("?"):
            return Revision(reply=f"{len(talk.history)} said, {len(talk.figures)} figures")
        if talk.message == "rename":
            return Revision(reply="Renamed.", design=design.model_copy(update={"title": "Rings"}))
        rule = Rule(id=f"R{len(design.rules) + 1}", section="Turn", text=talk.message)
        changed = design.model_copy(update={"rules": (*design.rules, rule)})
        return Revision(reply=f"Added {rule.id}.", design=changed)

    def draft(self, design: Design, tools: CoderTools) -> str:
        self.calls.append("draft")
        source = library.source(design.family)
        for sound, broken in self.faults:
            assert source.count(sound) == 1, sound
            source = source.replace(sound, broken)
        return source

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        self.calls.append("edit")
        for sound, broken in self.faults:
            if self.mends and source.count(broken) == 1:
                return Mending(edits=(Edit(search=broken, replace=sound),))
        raise RoleError("the script has no mend for these findings")

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        self.calls.append("judge")
        return Verdict(illegal_ply=None, rule="")

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        self.calls.append("unit_tests")
        return [
            UnitTest(
                name="the first player starts",
                rule="R1",
                actions=(),
                function="get_current_player",
                expected_json="0",
            )
        ]

    def tests_again(
        self, design: Design, source: str, refused: Sequence[RefusedTest]
    ) -> Sequence[UnitTest | RefusedTest]:
        self.calls.append("tests_again")
        return refused

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        self.calls.append("arbitrate")
        return Vote(upheld=True, why="so says the script")

    def heuristics(
        self, design: Design, source: str, samples: Sequence[Mapping[str, JsonValue]]
    ) -> Sequence[Heuristic]:
        self.calls.append("heuristics")
        return [
            Heuristic(name=name, policy="from the library", source=text)
            for name, text in library.heuristic_sources(design.family).items()
        ]

    def repair(
        self,
        design: Design,
        source: str,
        samples: Sequence[Mapping[str, JsonValue]],
        broken: Sequence[tuple[Heuristic, str]],
    ) -> Sequence[Heuristic]:
        self.calls.append("repair")
        raise RoleError("the script has no other heuristics")


def role_set(roles: ScriptedRoles) -> RoleSet:
    return RoleSet("scripted", roles, roles, roles, roles)
