"""`vary.json` and `report.html`: the variants that were kept, and how they play."""

import shlex
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field, JsonValue

from games.text import number_of, quoted
from graph.run.folder import RunFolder
from graph.vary.settings import VarySettings, WordingSettings
from tools.playtest.intervals import Estimate
from tools.reporting.content import Fairness
from tools.reporting.page import told_page
from tools.reporting.verdict import percent
from tools.sandbox import Grade
from tools.variation.trial import TrialFigures

TOLD = "vary.json"
HEADINGS = (
    *("", "novelty", "fairness", "length", "choices", "ties", "skill", "difference"),
    "play it with",
)
_SCOPES = {"store": "to known games", "batch": "among the variants"}


VaryEnd: TypeAlias = Literal["varied", "fewer", "none"]


class Replacement(BaseModel, frozen=True, extra="forbid"):
    """A mechanic of the base and the bred one in its place.

    Attributes:
        cluster: Of both, by its summary.
        games: Known games with a mechanic of that cluster, without the base.
        rules: Of the base, that are the mechanic.
    """

    old: str
    rules: tuple[str, ...]
    new: str
    text: str
    cluster: str
    games: int

    def __str__(self) -> str:
        said = f" ({', '.join(self.rules)})" if self.rules else ""
        return f"“{self.old}”{said} gives way to “{self.new}”: {self.text}"


class MadeGame(BaseModel, frozen=True, extra="forbid"):
    """Outcome of a variant in words that was coded, checked and played.

    Attributes:
        end: Of its run of `new`.
        passed: Whether all checks passed.
        reason: Why no more came of it.
        folder: Of that run, below the variation's.
        fairness: In words; empty where it was not measured.
        length: Mean decisions of a match of the best player's.
        choices: Mean legal actions of a decision of it.
        skill: Of the strongest player against random play: its share of the wins.
    """

    end: str
    passed: bool
    reason: str
    folder: str = ""
    fairness: str = ""
    length: float | None = None
    choices: float | None = None
    skill: float | None = None

    @property
    def columns(self) -> list[str]:
        """Its figures in the table."""
        length, choices = ("-" if x is None else f"{x:.1f}" for x in (self.length, self.choices))
        skill = "-" if self.skill is None else percent(self.skill)
        return [self.fairness or "-", length, choices, "-", skill]


class VariantRow(BaseModel, frozen=True, extra="forbid"):
    """A variant that is kept.

    Attributes:
        number: From 1; in play in the order of choice, in words of proposal.
        title: Of its rulebook.
        difference: To the base, in a sentence.
        novelty: In play its distance to the base on fresh deals, in the base's units. In words 1
            less its similarity to the nearest known game.
        folder: Of its files.
        changed: The settings that it changes, with their values.
        figures: With their intervals; None in words.
        profile: Its figures of play; empty in words.
        command: Makes it as a run of its own; empty where the library cannot.
        checks: Checks that it passed; None where it is no checked game.
        like: In words, the known game that it is most like.
        within: In words, its similarity to the variant that it is most like.
        replaced: In words, the mechanics that it replaces.
        made: In words, what came of its being coded; None where it was not.
    """

    number: int
    title: str
    difference: str
    novelty: float
    folder: str
    changed: dict[str, JsonValue] = {}
    figures: TrialFigures | None = None
    profile: dict[str, float] = {}
    command: str = ""
    checks: int | None = None
    like: str = ""
    within: float | None = None
    replaced: tuple[Replacement, ...] = ()
    made: MadeGame | None = None

    @property
    def place(self) -> str:
        """Where a person finds it, below the run's folder."""
        if not self.replaced:
            return self.folder
        return self.made.folder if self.made else f"{self.folder}/rules.md"

    @property
    def columns(self) -> list[str]:
        """Its figures in the table."""
        if self.made is not None:
            return self.made.columns
        return _told(self.figures) if self.figures else ["-"] * 5


class VaryReport(BaseModel, frozen=True, extra="forbid"):
    """A run as one JSON object.

    What was found in play has its default where rules are varied in words, and the other way round.

    Attributes:
        base: The game that was varied, as it was named.
        title: As a player says it.
        end: "varied", "fewer" than wanted, or "none".
        reason: Why fewer.
        variants: Those that are kept; in words the least similar first.
        tried: Candidates that were tried.
        dropped: Why candidates are not kept, with how many.
        settings: Of the run.
        versions: By name.
        chance: In play, that the base's distance to itself under two seeds hardly exceeds; see
            `chance_distance`.
        units: In play, of each figure.
        profile: In play, the base's.
        figures: In play, the base's.
        kept: In play, settings that stayed, with the words that name them.
        not_understood: Words on what shall stay that name no setting.
        not_varied: Settings that declare no values.
        sandbox: In play, how far it held.
        qms: In words, Eq. 2 by scope and percentile; without a scope of fewer than 2 texts.
        embedder: Whose vectors were compared; figures of another one compare with nothing here.
        model: Who worded them.
        problems: Of the base's rules.
    """

    base: str
    title: str
    end: VaryEnd
    reason: str
    variants: tuple[VariantRow, ...]
    tried: int
    dropped: dict[str, int]
    settings: VarySettings | WordingSettings
    versions: dict[str, str]
    chance: float = 0.0
    units: dict[str, float] = {}
    profile: dict[str, float] = {}
    figures: TrialFigures | None = None
    kept: dict[str, str] = {}
    not_understood: tuple[str, ...] = ()
    not_varied: tuple[str, ...] = ()
    sandbox: Grade | None = None
    qms: dict[str, dict[str, float]] = Field(default={})
    embedder: str = ""
    model: str = ""
    problems: tuple[str, ...] = ()


def read_varied(folder: RunFolder) -> VaryReport:
    """Read the report of a run that has ended.

    Raises:
        RunFolderError: If it is not there, or cannot be read.
    """
    wrong = "is no report ({} faults); start the run anew: rulewright vary"
    return folder.read_model(TOLD, VaryReport, wrong)


def rows_of(report: VaryReport, folder: RunFolder) -> list[list[str]]:
    """The table: the base, where it was played, then each variant."""
    base = (
        [["base", "-", *_told(report.figures), report.title, report.base]] if report.figures else []
    )
    return base + [
        [
            *(str(one.number), f"{one.novelty:.{3 if one.replaced else 1}f}", *one.columns),
            *(one.difference, _link(one, folder)),
        ]
        for one in report.variants
    ]


def _link(one: VariantRow, folder: RunFolder) -> str:
    if one.replaced:
        return f"most like {one.like} {1 - one.novelty:.3f}; {folder.path / one.place}"
    return f"rulewright play {folder.path / one.place}"


def comparisons(report: VaryReport, folder: RunFolder) -> list[str]:
    """The command that compares a variant with its base, for each; none without a design."""
    base = report.base.removesuffix("/game.py")  # a run is named by its folder
    return [
        shlex.join(["rulewright", "compare", base, str(folder.path / one.folder)])
        for one in report.variants
        if (folder.path / one.folder / "design.json").is_file()
    ]


def _told(figures: TrialFigures) -> list[str]:
    share = fair_text(figures.fairness) if figures.fairness else "-"
    if figures.score is not None:
        share = f"all win or lose together: score {figures.score.value:.2f}"
    return [
        share,
        f"{figures.length.value:.1f}",
        f"{figures.choices.value:.1f}",
        _share(figures.ties),
        _share(figures.skill),
    ]


def fair_text(fair: Fairness) -> str:
    """The side furthest from an even share, its interval and the answer; "-" where unmeasured."""
    if fair.share.value is None:
        return "-"
    ends = f"{percent(fair.share.low or 0.0)} to {percent(fair.share.high or 1.0)}"
    return f"{fair.share.name}: {percent(fair.share.value)} ({ends}), fair: {fair.answer}"


def _share(found: Estimate | None) -> str:
    return "-" if found is None else percent(found.value)


def remarks_of(report: VaryReport) -> list[str]:
    """Sentences on how the table came to be, and what is not in it."""
    made = number_of(report.settings.n, "variant")
    if report.figures:
        lines = [
            f"{len(report.variants)} of {made} kept, of {number_of(report.tried, 'candidate')} "
            "tried.",
            "Novelty is the distance to the base in play, in units of its own noise between seeds; "
            f"the same game under two seeds is {report.chance:.1f} apart or less, 97 times in 100.",
        ]
    else:
        lines = [
            f"{len(report.variants)} of {made} worded by {report.model}; novelty is 1 less the "
            f"similarity to the nearest known game, by the vectors of {report.embedder}."
        ]
    told = "Not varied" if report.end == "none" and not report.figures else "Fewer were kept"
    lines += [f"{told}: {report.reason.rstrip('.')}."] if report.reason else []
    for scope, found in report.qms.items():
        said = ", ".join(f"{value:.3f} at p = {p}" for p, value in found.items())
        lines.append(f"Quantiled max similarity {_SCOPES[scope]}: {said}.")
    lines += [f"Not kept, {count}: {why}" for why, count in report.dropped.items()]
    lines += [f"The base's rules leave open: {one}" for one in report.problems]
    lines += [
        f"Variant {row.number} is no checked game: {row.made.reason}"
        for row in report.variants
        if row.made is not None and not row.made.passed
    ]
    held = ", ".join(f"{name} (“{words}”)" for name, words in report.kept.items())
    lines += [f"Kept as it is: {held}."] if held else []
    lines += [
        f"Not understood, so nothing is kept for it: “{one}”." for one in report.not_understood
    ]
    if report.not_varied:
        lines.append(f"Not varied, as they declare no values: {', '.join(report.not_varied)}.")
    return lines


def final_table(report: VaryReport, folder: RunFolder) -> str:
    """The lines that a person reads at the end."""
    lines = [f"{report.title}: {report.end}"]
    for row in rows_of(report, folder):
        named = zip(HEADINGS[2:7], row[2:7], strict=True)
        lines.append(f"{row[0]:>4}  novelty {row[1]:>5}  {quoted(row[7])}")
        lines.append(f"      {', '.join(f'{name} {value}' for name, value in named)}")
        lines += [f"      {row[8]}"] if row[0] != "base" else []
    made = next((one.command for one in report.variants if one.command), "")
    lines += [f"as a run of its own, such as: {made}"] if made else []
    lines += [f"rule by rule: {one}" for one in comparisons(report, folder)[:1]]
    lines += map(quoted, remarks_of(report))
    return "\n".join([*lines, f"Everything is in {folder.path}: report.html, {TOLD}, variants/"])


def variations_page(report: VaryReport, folder: RunFolder) -> str:
    """The report as one self-contained page; the same run gives the same bytes."""
    return told_page(
        "graph.vary",
        told=report,
        headings=HEADINGS[:8],
        rows=[row[:8] for row in rows_of(report, folder)],
        remarks=remarks_of(report),
    )
