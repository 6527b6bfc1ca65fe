"""Print and play: the PDF files of a game."""

from app.export.components import listed_components
from app.export.exported import Exported, ExportError, Files, as_line
from app.export.paper import Press
from app.export.pen import fonts_of
from app.export.rulebook import LONGEST_RULES, example_lines, rulebook_pdf
from app.table.session import TableSession, line_up_of
from games.engine import Match
from games.library import defaults
from games.records import read_records
from games.values import ModuleFault
from tools.sandbox import SandboxTable

_MOST_PRINTED = 5_000
_THINKS = 20  # simulations a move of the example


def printed(exported: Exported) -> Files:
    """The files to print: rulebook, score sheet, and a file for each sort of component.

    Raises:
        ExportError: If there are too many things, or the font is none.
        ModuleFault: If the module does not load.
    """
    found = listed_components(exported)
    things = sum(one.count for one in (*found.cards, *found.counters, *found.dice))
    if things > _MOST_PRINTED:
        raise ExportError(
            f"{exported.title} has {things} components; at most {_MOST_PRINTED} are printed"
        )
    name = as_line(exported.table.module.info["name"])
    press = Press(name, exported.paper, fonts_of(exported.font))
    example = _example(exported)
    contents = {
        "rulebook.pdf": rulebook_pdf(exported, press, found, example),
        "score-sheet.pdf": press.score_sheet(exported.table.setup.num_players),
    }
    if found.cards:
        contents["cards.pdf"] = press.cards(found.cards)
    if found.boards:
        contents["boards.pdf"] = press.boards(found.boards)
    if found.counters:
        backed = any(one.kind in found.hidden for one in found.counters)
        contents["counters.pdf"] = press.counters(found.counters, backed)
    if found.dice:
        contents["dice.pdf"] = press.dice(found.dice)
    cut = len(exported.table.rulebook()) > LONGEST_RULES
    told = [f"of the rulebook the first {LONGEST_RULES} letters are printed"] if cut else []
    return Files(contents, [*found.doubts, *told, *press.fonts.letters.remark()])


def _example(exported: Exported) -> list[str]:
    """A match of the computer's players, in words; one that a run kept, else a new one."""
    if kept := _kept_example(exported):
        return kept
    from agents.players.registry import suitable_search  # all players: only where some play

    table, sandbox = exported.table, exported.sandbox
    try:
        named = "greedy" if table.setup.heuristics else ""
        named = named or suitable_search(table.setup, sandbox, _THINKS) or "random"
        specs = line_up_of(table.setup, (), [named], None, sandbox)
        session = TableSession(table.setup, specs, exported.seed, sandbox, table.records)
        match = session.play(SandboxTable(table.worker), _nobody, lambda _: None)
    except ModuleFault as fault:
        return [f"No match could be played: {fault}"]
    return example_lines(match)


def _kept_example(exported: Exported) -> list[str]:
    """A match of good play that a run's play-test kept of this game; nothing where it kept none."""
    table, setup = exported.table, exported.table.setup
    file = table.records / "best.jsonl"
    if table.run is None or not file.is_file():
        return []
    usual, seats, kept = defaults(table.module.info), setup.num_players, list[Match]()
    try:
        for one in read_records(file.read_text(encoding="utf-8")):
            if len(one.players) == seats and {**usual, **one.parameters} == setup.parameters:
                kept.append(one.match)
            if len(kept) > exported.seed:
                break
        return example_lines(kept[exported.seed % len(kept)]) if kept else []
    except (IndexError, TypeError, ValueError):  # somebody edited it
        return []


def _nobody(*_: object) -> str:
    raise AssertionError("no person sits at this table")
