"""The composer with one thing wrong: a draft with seeded faults, or a coder that will not mend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agents.composer import composer_roles
from agents.protocols import (
    Attempt,
    Claim,
    Coder,
    CoderTools,
    Design,
    Edit,
    Mending,
    RefusedTest,
    RoleError,
    RoleSet,
    Validator,
    Verdict,
    Vote,
)
from games.checks import Finding
from games.checks.unit_tests import UnitTest
from games.records import MatchRecord
from games.table import Position

Fault: TypeAlias = tuple[str, str]
"""A piece of the verified source, which occurs once, and what the draft has in its place."""


@dataclass(frozen=True)
class FaultyCoder:
    """Drafts as `coder` does, with the faults seeded; mends as `coder` does."""

    coder: Coder
    faults: Sequence[Fault]

    def draft(self, design: Design, tools: CoderTools) -> str:
        source = self.coder.draft(design, tools)
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
        return self.coder.edit(design, source, findings, tools, earlier)


@dataclass(frozen=True)
class RefusingCoder(FaultyCoder):
    """Sees no way to mend anything."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        raise RoleError("I cannot see what is wrong here")


@dataclass(frozen=True)
class BlindCoder(FaultyCoder):
    """Its edits apply and change nothing that matters."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        new = f"{source}# saw {len(findings)} findings\n"
        return Mending(edits=(Edit(search=source, replace=new),))


@dataclass(frozen=True)
class SloppyCoder(FaultyCoder):
    """Quotes lines that are not there."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        return Mending(edits=(Edit(search="a line that nobody wrote", replace=""),))


@dataclass(frozen=True)
class RecordsOnly:
    """A validator that looks at records alone."""

    validator: Validator

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        return self.validator.judge(design, record, positions, facts, struck)

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        return self.validator.arbitrate(design, claim, second=second)

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest]:
        return []

    def tests_again(
        self, design: Design, source: str, refused: Sequence[RefusedTest]
    ) -> Sequence[UnitTest]:
        return []


@dataclass(frozen=True)
class Undecided:
    """A validator that can judge nothing."""

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        raise RoleError("the record leaves me in doubt")

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        raise RoleError("both may be right")

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest]:
        return []

    def tests_again(
        self, design: Design, source: str, refused: Sequence[RefusedTest]
    ) -> Sequence[UnitTest]:
        return []


def faulty_roles(
    *faults: Fault, coder: type[FaultyCoder] = FaultyCoder, validator: Validator | None = None
) -> RoleSet:
    """The composer's roles, but for a coder with faults and, where given, the validator."""
    roles = composer_roles()
    return replace(roles, coder=coder(roles.coder, faults), validator=validator or roles.validator)
