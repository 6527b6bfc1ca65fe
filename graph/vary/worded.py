"""The machine of `vary` with a model: its wiring, its runs, and what they leave."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, get_args

from langgraph.graph import START, StateGraph
from pydantic import BaseModel

from agents.model.settings import SettingsError
from agents.protocols import Section
from agents.roles.variation import WordedGame
from games.text import number_of, one_line, plain_text, quoted
from graph.run.checkpoints import open_checkpoints
from graph.run.events import with_waits
from graph.run.folder import RunFolder
from graph.run.handle import QuietRun
from graph.run.opening import model_settings, open_chat, open_embedder
from graph.run.settings import versions
from graph.run.traces import tracing
from graph.vary.nodes.mechanics import mechanics
from graph.vary.nodes.rank import rank
from graph.vary.nodes.reword import reword
from graph.vary.nodes.substitute import substitute
from graph.vary.report import TOLD, VaryEnd
from graph.vary.wording import (
    MadeGame,
    WordedVariant,
    WordingContext,
    WordingSettings,
    WordingState,
    read_wording,
)
from tools.reporting.page import page_style, page_template
from tools.variation.novelty import PERCENTILES, qms
from vectorstore.documents import StoreError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from agents.model.settings import ModelSettings

WORDED_HEADINGS = (
    *("", "novelty", "most like", "fairness", "length", "choices", "skill", "difference", "link"),
)
_STEPS = 80


class WordedReport(BaseModel, frozen=True, extra="forbid"):
    """A run as one JSON object.

    Attributes:
        qms: By scope, "store" and "batch", and percentile; without a scope of fewer than 2 texts.
        embedder: Whose vectors were compared; figures of another one compare with nothing here.
        variants: The least similar first.
        dropped: Why others are not kept, by number.
        problems: Of the base's rules.
    """

    base: str
    title: str
    end: VaryEnd
    reason: str
    qms: dict[str, dict[str, float]]
    embedder: str
    model: str
    variants: tuple[WordedVariant, ...]
    dropped: dict[int, str]
    problems: tuple[str, ...]
    settings: WordingSettings
    versions: dict[str, str]

    @property
    def to_make(self) -> list[WordedVariant]:
        """The least similar, as many as are to be made."""
        return [*self.variants[: self.settings.make]]


def rules_page(game: WordedGame) -> str:
    """The rules of a variant, by section."""
    lines = [f"# {one_line(game.title)}", "", one_line(game.summary), ""]
    lines.append(f"A game for {number_of(game.num_players, 'player')}.")
    for section in get_args(Section):
        rules = [rule for rule in game.rules if rule.section == section]
        if rules:
            lines += ["", f"## {section}", "", *(f"- {r.id}: {one_line(r.text)}" for r in rules)]
    return "\n".join([*lines, ""])


def worded_report(state: WordingState, context: WordingContext) -> WordedReport:
    """The report of a run whose machine has ended, before its games are made."""
    base, settings, kept = context.request.base, context.request.settings, state.kept
    if state.end is None:
        raise ValueError("the run has not ended")
    scopes = {
        "store": [one.closest for one in kept if one.closest is not None],
        "batch": [one.within for one in kept if one.within is not None],
    }
    ranked = sorted(kept, key=lambda one: (not one.chosen, one.similarity, one.number))
    return WordedReport(
        base=base.name,
        title=base.title,
        end=state.end,
        reason=state.reason,
        qms={
            scope: {f"{p:g}": round(qms(found, p), 6) for p in PERCENTILES}
            for scope, found in scopes.items()
            if len(found) > 1
        },
        embedder=context.store.embedder.identity,
        model=context.chat.identity,
        variants=tuple(ranked),
        dropped={one.number: one.reason for one in state.variants if one.reason},
        problems=state.problems,
        settings=settings,
        versions=versions(),
    )


def with_made(report: WordedReport, made: Mapping[int, MadeGame]) -> WordedReport:
    """The report with what came of the games by number; fewer than wanted is said."""
    rows = tuple(
        row.model_copy(update={"made": made[row.number]}) if row.number in made else row
        for row in report.variants
    )
    return report.model_copy(update={"variants": rows})


def write_worded(report: WordedReport, folder: RunFolder) -> None:
    """Write `report.html` and, last, `vary.json`."""
    from markupsafe import Markup

    def safe(value: Any) -> Any:  # noqa: ANN401 - whatever the template shows
        return value if isinstance(value, Markup) else Markup(escape(plain_text(str(value))))

    template = page_template(
        (files("graph.vary") / "worded.html.j2").read_text(encoding="utf-8"), {}, finalize=safe
    )
    page = template.render(
        told=report.model_dump(mode="json"),
        headings=WORDED_HEADINGS,
        rows=worded_rows(report),
        remarks=worded_remarks(report),
        style=Markup(page_style()),  # ours
    )
    folder.write_text("report.html", f"{page}\n")
    folder.write_json(TOLD, report.model_dump(mode="json"))


def read_worded(folder: RunFolder) -> WordedReport:
    """Read the report of a run that has ended.

    Raises:
        RunFolderError: If it is not there, or cannot be read.
    """
    wrong = "is no report ({} faults); start the run anew: rulewright vary"
    return folder.read_model(TOLD, WordedReport, wrong)


def worded_rows(report: WordedReport) -> list[list[str]]:
    """The table: a variant a row, the least similar first; novelty is 1 less the similarity."""
    return [
        [
            *(str(one.number), f"{1 - one.closest:.3f}", f"{one.like} {one.closest:.3f}"),
            *_told(one.made),
            *(one.game.summary, one.made.folder if one.made else f"{one.folder}/rules.md"),
        ]
        for one in report.variants
        if one.game is not None and one.closest is not None
    ]


def _told(made: MadeGame | None) -> list[str]:
    if made is None:
        return ["-"] * 4
    figures = [made.length, made.choices]
    skill = "-" if made.skill is None else f"{100 * made.skill:.0f} %"
    return [made.fairness or "-", *("-" if x is None else f"{x:.1f}" for x in figures), skill]


def worded_remarks(report: WordedReport) -> list[str]:
    """Sentences on how the table came to be, and what is not in it."""
    lines = [
        f"{len(report.variants)} of {number_of(report.settings.n, 'variant')} worded by "
        f"{report.model}; novelty is 1 less the similarity to the nearest known game, by the "
        f"vectors of {report.embedder}."
    ]
    lines += [f"Fewer were worded: {report.reason}."] if report.end == "fewer" else []
    lines += [f"Not varied: {report.reason}."] if report.end == "none" else []
    scopes = {"store": "to known games", "batch": "among the variants"}
    for scope, found in report.qms.items():
        said = ", ".join(f"{value:.3f} at p = {p}" for p, value in found.items())
        lines.append(f"Quantiled max similarity {scopes[scope]}: {said}.")
    lines += [f"Variant {number} is not kept: {why}" for number, why in report.dropped.items()]
    lines += [f"The base's rules leave open: {one}" for one in report.problems]
    for row in report.variants:
        if row.made is not None and not row.made.passed:
            lines.append(f"Variant {row.number} is no checked game: {row.made.reason}")
    return lines


def worded_table(report: WordedReport, folder: RunFolder) -> str:
    """The lines that a person reads at the end."""
    lines = [f"{report.title}: {report.end}"]
    for row in worded_rows(report):
        named = ", ".join(f"{n} {v}" for n, v in zip(WORDED_HEADINGS[3:7], row[3:7], strict=True))
        lines += [f"{row[0]:>4}  novelty {row[1]}  {quoted(row[7])}", f"      {named}"]
        lines.append(f"      most like {row[2]}; {folder.path / row[8]}")
    lines += map(quoted, worded_remarks(report))
    return "\n".join([*lines, f"Everything is in {folder.path}: report.html, {TOLD}, variants/"])


def require_chat_settings() -> "ModelSettings":
    """The settings of the configured model.

    Raises:
        SettingsError: If none is configured.
    """
    settings = model_settings()
    if settings.model is None:
        raise SettingsError(
            "no model is configured, and mechanics are read, bred and varied by one; set "
            "RULEWRIGHT_MODEL (see docs/settings.md). Without one: rulewright vary GAME"
        )
    return settings


class WordingRun(QuietRun):
    """A run in this process; see `QuietRun`."""

    context: WordingContext

    def result(self) -> WordedReport:
        """The report so far, with the variants' rules written; see `write_worded`."""
        values = self.graph.get_state(self.config).values
        state = WordingState(**values)
        texts = {f"variants/{v.number}/rules.md": rules_page(v.game) for v in state.kept if v.game}
        self.folder.write_together(texts)
        return worded_report(state, self.context)


@contextmanager
def open_wording(folder: RunFolder, *, database: str | None = None) -> Iterator[WordingRun]:
    """A run that begins, or goes on where its last checkpoint stands; to the same result.

    Raises:
        StoreError: If another embedder made its clusters.
    """
    request, clusters = read_wording(folder)
    chat = open_chat(require_chat_settings(), folder.exchanges)
    with ExitStack() as held:
        store = held.enter_context(open_embedder(lambda _: None))
        if clusters.embedder != store.embedder.identity:
            raise StoreError(
                f"the run in {folder.path} compares texts by {clusters.embedder}, and this embedder"
                f" is {store.embedder.identity}; choose that one by RULEWRIGHT_EMBEDDINGS"
            )
        saver = held.enter_context(open_checkpoints(folder.checkpoints, database))
        held.enter_context(tracing(folder.trace))
        config: RunnableConfig = {
            "configurable": {"thread_id": folder.thread},
            "recursion_limit": _STEPS,
            "run_name": "rulewright vary",
            "metadata": {"seed": request.settings.seed, "run": folder.path.name},
        }
        context = WordingContext(chat, store, folder, request, clusters)
        graph = build_wording().compile(checkpointer=saver, name="rulewright vary")
        yield WordingRun(folder, context, graph, config)


def build_wording() -> "StateGraph[WordingState, WordingContext, Any, Any]":
    """The machine, not yet compiled: mechanics -> substitute -> reword, again and again -> rank."""
    builder: StateGraph[WordingState, WordingContext, Any, Any] = StateGraph(
        WordingState, context_schema=WordingContext
    )
    for node in (mechanics, reword, rank, substitute):
        builder.add_node(node.__name__, with_waits(node))
    builder.add_edge(START, "mechanics")
    return builder
