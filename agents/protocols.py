"""The four roles and what passes between them; both implementations produce these types.

Claims of the validator are among them, and what settles them: play, the coder's argument, votes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from games.checks import Finding
from games.checks.unit_tests import PlayedPly, UnitTest
from games.mechanics import Mechanic, MechanicEdge, MechanicGraph
from games.records import MatchRecord
from games.table import Position
from vectorstore.documents import Example

Section: TypeAlias = Literal[
    "Game State",
    "Components",
    "Setup",
    "Legal Actions",
    "Turn",
    "Rounds and Phases",
    "Scoring",
    "Observations",
]
NEW_FAMILY = "new"
"""The family of a design that is no library family's."""
ClauseStatus: TypeAlias = Literal["honoured", "not_honoured"]
ClaimStatus: TypeAlias = Literal["open", "upheld", "struck", "dropped", "overtaken"]
_QUOTED = 160


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Vote(_Value):
    """A fresh validator's vote on a contested claim."""

    upheld: bool
    why: str


class Claim(_Value):
    """A test or a verdict of the validator; `graph.new.claims.after` changes its status.

    Attributes:
        id: "T1" for a test, "V1" for a verdict on a record, "S1" for seats that differ.
        rule: Id of the rule it speaks for.
        says: What the module does wrong, or the value it must give.
        shown: The record it rests on; empty for a test, which is played, and for counts.
        test: The test; None for the others.
        played: The ply that a verdict is on, as it was played; None for the others.
        status: "open" until a vote; then "upheld" or "struck". A person, or a test that nobody can
            run, makes it "dropped"; a revision or an amended rule makes it "overtaken".
        older: True for a test that held for the game before a revision.
        argument: Why the coder holds the module for right; empty where nobody objected.
        votes: Of the validators who were asked beside the first.
    """

    id: str
    rule: str
    says: str
    shown: str = ""
    test: UnitTest | None = None
    played: PlayedPly | None = None
    status: ClaimStatus = "open"
    older: bool = False
    argument: str = ""
    votes: tuple[Vote, ...] = ()

    @property
    def counts(self) -> bool:
        """True if a module is still held against it."""
        return self.status in ("open", "upheld")


class RefusedTest(_Value):
    """A test that cannot be run as it was written; it costs no other one."""

    name: str
    rule: str
    why: str


class Objection(_Value):
    """The coder's objection to a finding."""

    finding: int = Field(ge=1, description="Number of the finding, from 1.")
    argument: str


class Parting(_Value):
    """The first place at which two modules, written independently from the same rules, part.

    Attributes:
        candidates: Their numbers.
        match: Number of the random match, from 1.
        ply: Plies played before it.
        actions: The newest actions before it, in the first module's words.
        about: What differs, such as "legal actions".
        readings: What each module says there.
        seen_at: Plies after which what the seats see first parted.
        seen: By module what they saw before and after that ply.
    """

    candidates: tuple[int, int]
    match: int
    ply: int
    actions: tuple[str, ...]
    about: str
    readings: tuple[str, str]
    seen_at: int = 0
    seen: tuple[str, str] = ("", "")


class Ruling(_Value):
    """The designer's ruling on two readings, with the rule as it reads from then on."""

    working: str = Field(description="What the rules say of this place, and what they leave open.")
    holds: Literal["first", "second", "neither"] = Field(
        description="Which module plays as the rules are meant."
    )
    rule: str = Field(description="Id of the one rule that has to be clearer, such as R4.")
    text: str = Field(description="That rule as one plain sentence that leaves one reading.")


class Ambiguity(_Value):
    """Rules that were read in two ways.

    Attributes:
        parting: Where it showed.
        ruling: The designer's; None where none could be had.
        before: The rule as it read.
        lacking: Why there is no ruling.
    """

    parting: Parting
    ruling: Ruling | None = None
    before: str = ""
    lacking: str = ""


class Attempt(_Value):
    """An earlier refinement, as the coder is told of it.

    Attributes:
        open: What was open before it.
        cause: What the coder held to be the cause.
        diff: What it changed.
        refused: What of the coder's answers was of no use there, and why.
    """

    open: str
    cause: str
    diff: str
    refused: tuple[str, ...] = ()


class Edit(_Value):
    """A partial edit: the first string must occur exactly once in the source."""

    search: str
    replace: str


class Mending(_Value):
    """The coder's answer to findings: edits, and objections to those that it holds for wrong.

    Attributes:
        refused: Edits that it tried on the way and that did not apply, each with the reason.
    """

    cause: str = ""
    edits: tuple[Edit, ...] = ()
    contested: tuple[Objection, ...] = ()
    refused: tuple[str, ...] = ()


UNREAD = "not read: "
"""How the reason of a demand begins of which nobody knows if the rules have it."""
GUESSED = "read as: "
"""How the reason of a demand begins that is kept, if its words mean what they were taken for."""


class Clause(_Value):
    """One demand of the brief, in its own words, and what became of it."""

    text: str = Field(description="The brief's own words for this demand.")
    status: ClauseStatus
    setting: str = Field(default="", description="What honours it, such as 'trump=spades'.")
    reason: str = Field(default="", description="Why it could not be honoured.")
    rules: tuple[str, ...] = Field(default=(), description="Ids of the rules that say it.")
    seen: str = Field(
        default="", description="Where a checked match shows it; empty where none could."
    )
    perhaps: str = Field(
        default="", description="The setting that may have been meant; it was not applied."
    )


class Choices(_Value):
    """Options that the person fixed beside the words of a brief; they override the words."""

    family: str | None = Field(default=None, description="A library family or preset.")
    num_players: int | None = Field(default=None, ge=1)
    settings: dict[str, JsonValue] = Field(default_factory=dict)

    def but(self, newer: "Choices") -> "Choices":
        """These choices, with newer ones over them; another family has settings of its own.

        >>> Choices(family="shedding", settings={"hand": 5}).but(Choices(num_players=4)).settings
        {'hand': 5}
        >>> Choices(family="shedding", settings={"hand": 5}).but(Choices(family="poker")).settings
        {}
        """
        moved = newer.family not in (None, self.family)
        return Choices(
            family=newer.family or self.family,
            num_players=newer.num_players or self.num_players,
            settings={**({} if moved else self.settings), **newer.settings},
        )


class Fit(_Value):
    """The game that the nearest library family would make of a brief."""

    family: str
    kept: tuple[str, ...] = Field(description="The brief's demands that the family honours.")
    lost: tuple[str, ...] = Field(description="Those that it does not.")


class Brief(_Value):
    """The person's wish."""

    prompt: str = Field(description="The person's words, untouched.")
    assumptions: tuple[str, ...] = Field(
        default=(), description="What was assumed where the words left it open."
    )
    question: str | None = Field(
        default=None, description="The one clarifying question, where nothing can be made without."
    )
    anew: bool = Field(
        default=False, description="Whether the answer stands in the prompt's place."
    )
    asked: tuple[str, ...] = Field(
        default=(), description="Questions that the end of the prompt answers, in turn."
    )
    choices: Choices = Choices()
    corrections: tuple[str, ...] = Field(
        default=(), description="What the person said of earlier rulebooks; it overrides the rest."
    )

    @property
    def words(self) -> str:
        """All that the person said."""
        return "\n".join((self.prompt, *self.corrections))


class Rule(_Value):
    """One sentence of the rulebook."""

    id: str = Field(pattern=r"^R[0-9]+$")
    section: Section
    text: str


class Design(_Value):
    """A game before its code: mechanic graph, structured rules, parameters."""

    title: str
    summary: str
    family: str = Field(description="Library family it is built from, or 'new'.")
    num_players: int = Field(ge=1, le=8)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    rules: tuple[Rule, ...]
    mechanics: tuple[Mechanic, ...]
    edges: tuple[MechanicEdge, ...]
    clauses: tuple[Clause, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def graph(self) -> MechanicGraph:
        """Its mechanic graph, with depths."""
        return MechanicGraph(nodes=self.mechanics, edges=self.edges).ordered()

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that it says of the game: its rules, then what is assumed."""
        return (*(rule.text for rule in self.rules), *self.assumptions)


class Talk(_Value):
    """A person's message about a game that is there, with the facts to answer it from."""

    message: str
    history: tuple[str, ...] = Field(
        default=(), description="What was said before, oldest first; each with who said it."
    )
    figures: tuple[str, ...] = Field(
        default=(), description="What the play-test found; empty where none was played."
    )


class Revision(_Value):
    """The result of a message: an answer, a changed design, or another game."""

    reply: str = Field(description="What the person is told.")
    design: Design | None = Field(default=None, description="The changed design, if it changed.")
    other: bool = Field(default=False, description="Whether the message asks for another game.")


class Verdict(_Value):
    """The validator's conclusion about one match record."""

    illegal_ply: int | None = Field(description="Index of the first forbidden ply, or null.")
    rule: str = Field(description="Id of the rule it breaks; empty where nothing is forbidden.")
    explanation: str = ""
    function: str | None = Field(
        default=None, description="Contract function at fault, where the validator can name it."
    )
    shown: str = Field(default="", description="The record as the validator saw it.")
    plies: int | None = Field(default=None, description="Plies that it was shown; null for all.")


class Heuristic(_Value):
    """A policy in words and as code: `score(observation, action) -> float`, larger is better."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    policy: str
    source: str


class RoleError(Exception):
    """A role could not do its work; the message says why and what to do next."""


class NoFitError(RoleError):
    """No library family is what the brief asks for; nothing was made."""

    def __init__(self, message: str, fit: Fit) -> None:
        """Keep what the nearest family would have made of it."""
        super().__init__(message)
        self.fit = fit


class CoderTools(Protocol):
    """The tools that a coder may call while it writes."""

    def search_examples(self, query: str) -> Sequence[Example]:
        """Whole library games near a query."""

    def search_snippets(self, query: str) -> Sequence[Example]:
        """Single functions, each with the rule text it implements, near a query."""

    def drafting_snippets(self, design: Design) -> Sequence[Example]:
        """Functions of other games for a first draft of the design."""

    def snippets_for_rule(self, rule: str, function: str | None) -> Sequence[Example]:
        """Functions that implement a rule like this one; `function` is at fault, if known."""

    @property
    def has_tests(self) -> bool:
        """True if there is something that a draft can be held against."""

    def run_module(self, source: str) -> Sequence[Finding]:
        """Load a draft in the sandbox and run the quick checks on it."""

    def run_tests(self, source: str) -> Sequence[Finding]:
        """Hold a draft against the validator's tests, and play again what it found faulty."""

    def play_record(self, source: str, seed: int) -> tuple[MatchRecord, Sequence[Position]] | str:
        """Play one random match of a draft: its record and positions, or why none finished."""

    def claim(self, finding: Finding) -> Claim | None:
        """The validator's claim that a finding rests on; None for any other."""


class Designer(Protocol):
    """Mechanic designer: brief to design."""

    def clarify(self, prompt: str, asked: Sequence[str] = ()) -> Brief:
        """Read the person's words; sets `question` where no game can be made of them.

        `asked` are questions that the end of the words answers, in turn.
        """

    def design(self, brief: Brief, retrieve: Callable[[str], Sequence[Example]]) -> Design:
        """Design a game; `retrieve` gives mechanics near a phrase.

        Raises:
            NoFitError: If the designer's means are not near enough to the brief.
            RoleError: If no game can be designed from the brief.
        """

    def revise(self, design: Design, brief: Brief, talk: Talk) -> Revision:
        """Answer what is said of a design, or change it; what is not asked for stays as it is.

        Raises:
            RoleError: If the change cannot be made, saying why.
        """


class Coder(Protocol):
    """Coder: design to module source, and partial edits of it."""

    def draft(self, design: Design, tools: CoderTools) -> str:
        """Write the module."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        """Propose edits that mend the findings, and contest those that rest on a wrong claim.

        Raises:
            RoleError: If it has nothing left to propose, saying why.
        """


class Validator(Protocol):
    """Validator: do records obey the rules, and which tests do the rules imply?"""

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        """Judge one record. An unreadable verdict is an exception, never a pass.

        Args:
            design: The game.
            record: The match.
            positions: Gives those before its first ply and after each, as a fresh worker replays
                it; raises ModuleFault where it does not.
            facts: What sets seats apart over all matches, which the rules may mean or not.
            struck: An earlier verdict on this record, which a person gave up.
        """

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        """Tests that the rules imply, with values worked out from the rules; at least one good one.

        Args:
            design: The game.
            source: A module, which shows how actions are written.
            amended: Ids of the only rules to test; none for all.
        """

    def tests_again(
        self, design: Design, source: str, refused: Sequence[RefusedTest]
    ) -> Sequence[UnitTest | RefusedTest]:
        """Tests that replace those that cannot be run, told why; there may be none.

        Args:
            design: The game.
            source: The module, which may be what is wrong where it refuses a test's action.
            refused: Those of the validator's tests that cannot be run.
        """

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        """Vote on a contested claim, knowing rules, record and both arguments, no other vote.

        Args:
            design: The game.
            claim: With the coder's argument.
            second: Whether this is the second of the two who are asked; it hears the coder first.
        """


class Strategist(Protocol):
    """Strategist: how to play well."""

    def heuristics(
        self, design: Design, source: str, samples: Sequence[Mapping[str, JsonValue]]
    ) -> Sequence[Heuristic]:
        """Heuristics for the game; `samples` are `{"observation", "legal"}` seen in random play.

        Raises:
            RoleError: If it has none for this game.
        """

    def repair(
        self,
        design: Design,
        source: str,
        samples: Sequence[Mapping[str, JsonValue]],
        broken: Sequence[tuple[Heuristic, str]],
    ) -> Sequence[Heuristic]:
        """The broken heuristics mended, under their names; each comes with what was wrong.

        Raises:
            RoleError: If it has nothing better.
        """


class Referee(Protocol):
    """Referee: the designer, asked which of two readings of its rules holds."""

    def rule_on(self, design: Design, parting: Parting) -> Ruling:
        """Rule on the readings and amend the rule. An unreadable ruling is an exception."""


class Extender(Protocol):
    """Extender: the coder, asked for what the contract leaves open, once the game is accepted."""

    def extend(self, design: Design, source: str) -> Mapping[str, str]:
        """Optional functions by name, each as source to be put behind the module's own.

        An unreadable reply is an exception.
        """


COMPOSER = "composer"
"""The identity of the roles without a language model."""


@dataclass(frozen=True)
class RoleSet:
    """The four roles of a run and who they are.

    Attributes:
        identity: `COMPOSER`, or the model's name.
        designer: Mechanic designer.
        coder: Coder.
        validator: Validator.
        strategist: Strategist.
        referee: Rules on what two candidates read differently; None where nobody can.
        extender: Writes optional functions of an accepted game; None where nobody can.
        verified: Gives the library's source with which the validator compares; None where the
            validator reads the rules.
    """

    identity: str
    designer: Designer
    coder: Coder
    validator: Validator
    strategist: Strategist
    referee: Referee | None = None
    extender: Extender | None = None
    verified: Callable[[Design], str] | None = None


class EditError(ValueError):
    """An edit cannot be applied; the message names it and quotes its search text."""


def apply_edits(source: str, edits: Sequence[Edit]) -> str:
    """The source with all edits applied.

    Args:
        source: The text to edit.
        edits: Each search text occurs exactly once in `source`, exact to the last space, and
            becomes its replacement.

    Every search text is looked up in `source` as it is given, never in the outcome of another
    edit, so the order of the edits does not matter.

    Raises:
        EditError: If there is no edit, a search text is empty or does not occur exactly once, or
            two edits overlap; then nothing is applied.
    """
    if not edits:
        raise EditError("there is no edit to apply; required: at least one")
    spans = sorted(
        (_locate(source, edit.search, number), number, edit.search, edit.replace)
        for number, edit in enumerate(edits, start=1)
    )
    pieces, reached, before = [], 0, 0
    for start, number, search, replacement in spans:
        if start < reached:
            raise EditError(
                f"edits {before} and {number} overlap at {_quote(search)}; make them one edit"
            )
        pieces += [source[reached:start], replacement]
        reached, before = start + len(search), number
    return "".join([*pieces, source[reached:]])


def _locate(source: str, search: str, number: int) -> int:
    if not search:
        raise EditError(f"edit {number} has an empty search text; quote the lines to replace")
    first = source.find(search)
    if first < 0:
        raise EditError(
            f"edit {number}: the search text does not occur in the source: {_quote(search)}; "
            f"copy it exactly, with its indentation{_otherwise_spaced(source, search)}"
        )
    count = sum(source.startswith(search, at) for at in range(first, len(source)))
    if count > 1:
        raise EditError(
            f"edit {number}: the search text occurs {count} times, not once: {_quote(search)}; "
            "quote more lines around it"
        )
    return first


def _otherwise_spaced(source: str, search: str) -> str:
    r"""The line that has the search text but for its spaces; empty where none has.

    >>> _otherwise_spaced("def f():\n    return 1\n", "  return 1"), _otherwise_spaced("x", "y")
    ('; line 2 begins it, with other spaces', '')
    """
    lines, words = source.split("\n"), " ".join(search.split())
    many = len(search.strip().split("\n"))
    for number in range(len(lines)):
        if words and words in " ".join(" ".join(lines[number : number + many]).split()):
            return f"; line {number + 1} begins it, with other spaces"
    return ""


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…")
