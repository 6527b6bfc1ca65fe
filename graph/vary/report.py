"""`vary.json` and `report.html`: the variants that were kept, and how they play."""

import shlex
from html import escape
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, JsonValue

from games.text import number_of, plain_text, quoted
from graph.run.folder import RunFolder
from graph.vary.settings import VarySettings
from tools.playtest.intervals import Estimate
from tools.reporting.content import Fairness
from tools.reporting.page import page_style, page_template
from tools.reporting.verdict import percent
from tools.sandbox import Grade
from tools.variation.trial import TrialFigures

TOLD = "vary.json"
HEADINGS = (
    "",
    "novelty",
    "fairness",
    "length",
    "choices",
    "ties",
    "skill",
    "difference",
    "play it with",
)


VaryEnd: TypeAlias = Literal["varied", "fewer", "none"]


class VariantRow(BaseModel, frozen=True, extra="forbid"):
    """A variant that is kept.

    Attributes:
        number: From 1, in the order of choice: the first is farthest from the base.
        title: Of its rulebook.
        difference: To the base, in a sentence.
        changed: The settings that it changes, with their values.
        novelty: Its distance to the base in play, on fresh deals, in the base's units.
        figures: With their intervals.
        profile: Its figures of play.
        folder: Of its module, rulebook and players.
        command: Makes it as a run of its own; empty where the library cannot.
        checks: Checks that it passed.
    """

    number: int
    title: str
    difference: str
    changed: dict[str, JsonValue]
    novelty: float
    figures: TrialFigures
    profile: dict[str, float]
    folder: str
    command: str
    checks: int


class VaryReport(BaseModel, frozen=True, extra="forbid"):
    """A run as one JSON object.

    Attributes:
        base: The game that was varied, as it was named.
        title: As a player says it.
        end: "varied", "fewer" than wanted, or "none".
        reason: Why fewer.
        chance: That its distance to itself under two seeds hardly exceeds; see `chance_distance`.
        units: Of each figure of play.
        profile: The base's.
        figures: The base's.
        variants: Those that are kept.
        tried: Candidates that were tried.
        dropped: Why candidates are not kept, with how many.
        kept: Settings that stayed, with the words that name them.
        not_understood: Words on what shall stay that name no setting.
        not_varied: Settings that declare no values.
        settings: Of the run.
        versions: By name.
        sandbox: How far it held.
    """

    base: str
    title: str
    end: VaryEnd
    reason: str
    chance: float
    units: dict[str, float]
    profile: dict[str, float]
    figures: TrialFigures
    variants: tuple[VariantRow, ...]
    tried: int
    dropped: dict[str, int]
    kept: dict[str, str]
    not_understood: tuple[str, ...]
    not_varied: tuple[str, ...]
    settings: VarySettings
    versions: dict[str, str]
    sandbox: Grade


def read_varied(folder: RunFolder) -> VaryReport:
    """Read the report of a run that has ended.

    Raises:
        RunFolderError: If it is not there, or cannot be read.
    """
    wrong = "is no report ({} faults); start the run anew: rulewright vary"
    return folder.read_model(TOLD, VaryReport, wrong)


def rows_of(report: VaryReport, folder: RunFolder) -> list[list[str]]:
    """The table: the base, then each variant."""
    base = ["base", "-", *_told(report.figures), report.title, report.base]
    return [base] + [
        [
            *(str(one.number), f"{one.novelty:.1f}", *_told(one.figures)),
            *(one.difference, f"rulewright play {folder.path / one.folder}"),
        ]
        for one in report.variants
    ]


def comparisons(report: VaryReport, folder: RunFolder) -> list[str]:
    """The command that compares a variant with its base, for each; none without a design."""
    return [
        shlex.join(["rulewright", "compare", report.base, str(folder.path / one.folder)])
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
    wanted = report.settings.n
    lines = [
        f"{len(report.variants)} of {number_of(wanted, 'variant')} kept, of "
        f"{number_of(report.tried, 'candidate')} tried.",
        f"Novelty is the distance to the base in play, in units of its own noise between seeds; "
        f"the same game under two seeds is {report.chance:.1f} apart or less, 97 times "
        "in 100.",
    ]
    lines += [f"Fewer were kept: {report.reason}."] if report.reason else []
    lines += [f"Not kept, {count}: {why}" for why, count in report.dropped.items()]
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
        lines.append(f"{row[0]:>4}  novelty {row[1]:>5}  {row[7]}")
        lines.append(f"      {', '.join(f'{name} {value}' for name, value in named)}")
        lines += [f"      {row[8]}"] if row[0] != "base" else []
    made = next((one.command for one in report.variants if one.command), "")
    lines += [f"as a run of its own, such as: {made}"] if made else []
    lines += [f"rule by rule: {one}" for one in comparisons(report, folder)[:1]]
    lines += map(quoted, remarks_of(report))
    return "\n".join([*lines, f"Everything is in {folder.path}: report.html, {TOLD}, variants/"])


def variations_page(report: VaryReport, folder: RunFolder) -> str:
    """The report as one self-contained page; the same run gives the same bytes."""
    from markupsafe import Markup

    def safe(value: Any) -> Any:  # noqa: ANN401 - whatever the template shows
        return value if isinstance(value, Markup) else Markup(escape(plain_text(str(value))))

    template = page_template(
        (files("graph.vary") / "report.html.j2").read_text(encoding="utf-8"), {}, finalize=safe
    )
    page = template.render(
        told=report.model_dump(mode="json"),
        headings=HEADINGS,
        rows=rows_of(report, RunFolder(folder.path.relative_to(folder.path))),
        remarks=remarks_of(report),
        style=Markup(page_style()),  # ours
    )
    return f"{page}\n"
