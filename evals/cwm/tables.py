"""Tables of Code World Models: the paper's figures beside those of results of ours.

A figure of ours is the mean over the syntheses of the results. Where no result has it, the cell
names the command that would run it. Where the paper's own language model decides it, as its number
of calls and its play do, it is not comparable unless ours is that model.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from evals.cwm.synthesis import CLOSED, recording_of, tasks
from evals.results import EvalError, Row, read_data
from games.environments.reading import read_plain

KEPT = Path(__file__).parents[2] / "docs" / "measurements"
_PLAY: Row = read_data("cwm/published.json")["games"]
_ACCURACIES: Row = read_data("cwm/published_tables.json")
_MODEL: str = _ACCURACIES["model"]
_OF_A_SAMPLE = {
    "transition, train": "training",
    "transition, test": "transitions",
    "inference, train": "training inference",
    "inference, test": "inference",
}
_LARGEST = 64 * 2**20  # bytes of a result
_SEATS = ("first", "second")
_TITLES = {"wins": "wins, losses, draws", "payoffs": "payoffs", "forfeits": "rates of forfeits"}
_NO_FORFEITS = [[0.0, 0.0], [0.0, 0.0]]
Figure: TypeAlias = float | list[float]


@dataclass(frozen=True)
class TableCell:
    """One figure of a table.

    Attributes:
        table: Its number in the paper.
        title: The table's.
        game: The game, by its name in our tasks.
        figure: Its name.
        paper: The paper's.
        ours: Ours; None where there is none.
        why: Why there is none, with the command that would run it; else "".
    """

    table: str
    title: str
    game: str
    figure: str
    paper: Figure
    ours: Figure | None
    why: str


class ResultFile(BaseModel, frozen=True):
    """An evaluation's result as `--json` writes it; whatever else it holds is not read."""

    model_config = ConfigDict(extra="ignore")

    name: str
    samples: tuple[dict[str, Any], ...] = ()
    effective: dict[str, Any]

    def is_of(self, name: str, settings: Mapping[str, Any]) -> bool:
        """Say whether it is of an evaluation, refined and drawn as these settings say."""
        told = self.effective.get("set", {})
        kept = {key: told[key] for key in ("refine", "inference") if key in told}
        return self.name == name and kept == settings

    def of_the_papers_model(self, key: str) -> bool:
        """Say whether the paper's model stands under a key of what was in force."""
        return _MODEL in str(self.effective.get(key, ""))


def read_results(files: Sequence[Path]) -> list[ResultFile]:
    """The results in some files, and those that the repository keeps.

    Raises:
        EvalError: If a file is none.
    """
    found = []
    for file in (*sorted(KEPT.glob("cwm-*.json")), *files):
        try:
            told = json.loads(read_plain(file, _LARGEST))
            found.append(ResultFile.model_validate(told.get("result", told)))
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise EvalError(
                f"{file} is no result of an evaluation ({type(error).__name__}); required: what "
                "rulewright eval run NAME --json wrote"
            ) from error
    return found


def table_cells(results: Sequence[ResultFile], wanted: Sequence[str] = ()) -> list[TableCell]:
    """The cells of the paper's tables, in its order.

    Args:
        results: Of ours.
        wanted: Numbers of tables; none for all.

    Raises:
        EvalError: If there is no such table.
    """
    cells = [*_accuracies(results), *_play(results)]
    known = sorted({cell.table for cell in cells}, key=int)
    if unknown := sorted({*wanted} - {*known}):
        raise EvalError(f"no table {', '.join(unknown)}; known are {', '.join(known)}")
    shown = [cell for cell in cells if cell.table in (wanted or known)]
    return sorted(shown, key=lambda cell: int(cell.table))


def cells_told(cells: Sequence[TableCell], results: Sequence[ResultFile]) -> str:
    """The cells as tables of Markdown, and what ours rest on."""
    lines: list[str] = []
    for cell in cells:
        heading = f"## Table {cell.table}: {cell.title}"
        if heading not in lines:
            lines += [""] * bool(lines) + [heading, "", "| game | figure | paper | ours |"]
            lines.append("|---|---|---|---|")
        ours = cell.why if cell.ours is None else _told(cell.ours)
        lines.append(f"| {cell.game} | {cell.figure} | {_told(cell.paper)} | {ours} |")
    for one in results:
        told = {name: value for name, value in one.effective.items() if name != "versions"}
        lines += ["", f"Ours are of {one.name}: {json.dumps(told)}"]
    return "\n".join(lines)


def _told(figure: Figure) -> str:
    return " / ".join(f"{one:g}" for one in (figure if isinstance(figure, list) else [figure]))


def _accuracies(results: Sequence[ResultFile]) -> Iterator[TableCell]:
    for number, table in _ACCURACIES["tables"].items():
        for game, figures in table["rows"].items():
            for figure, paper in zip(table["figures"], figures, strict=True):
                ours, why = _accuracy(results, game, figure, table["settings"])
                yield TableCell(number, table["title"], game, figure, paper, ours, why)


def _accuracy(
    results: Sequence[ResultFile], game: str, figure: str, settings: Mapping[str, Any]
) -> tuple[float | None, str]:
    """Ours, or the reason why there is none."""
    if why := _PLAY.get(game, {}).get("not comparable"):
        return None, f"not comparable: {why}"
    if figure == "inference, online":
        return None, "not measured: the arena counts surprises and failed searches"
    if figure == "transition, online":
        asked = [row["transitions online"] for row, _ in _tables(results, game, settings)]
        if distinct := sum(one["distinct"] for one in asked):
            return sum(one["agreed"] for one in asked) / distinct, ""
        return None, _not_run("cwm-arena", game, settings)
    rows = [
        (row, result)
        for result in results
        if result.is_of("cwm-synthesis", settings)
        for row in result.samples
        if row.get("game") == game and "missing" not in row
    ]
    if figure in _OF_A_SAMPLE:
        values = [value for row, _ in rows if (value := row.get(_OF_A_SAMPLE[figure])) is not None]
    elif all(result.of_the_papers_model("modeller") for _, result in rows):
        values = [sum(row["calls"].values()) for row, _ in rows]
    else:
        return None, "not comparable: another modeller answered"
    return (fmean(values), "") if values else (None, _not_run("cwm-synthesis", game, settings))


def _play(results: Sequence[ResultFile]) -> Iterator[TableCell]:
    for game, decks in _PLAY.items():
        for deck, settings in _ACCURACIES["decks"].items():
            if deck not in decks:
                continue
            rows, numbers = decks[deck], decks[deck]["table"].split(", ")
            name = f"{game}{CLOSED}" if deck == "closed deck" else game
            main = "payoffs" if "payoffs" in rows["gt"] else "wins"
            for number, figure in zip(numbers, (main, "forfeits"), strict=False):
                said = f"{_TITLES[figure]}, {deck}"
                for opponent in ("llm", "gt", "random"):
                    paper = rows[opponent].get(figure, _NO_FORFEITS)
                    for seat, place in enumerate(_SEATS):
                        at = f"against {opponent}, {place}"
                        ours, why = _row(results, name, (opponent, seat, figure), settings)
                        yield TableCell(number, said, name, at, paper[seat], ours, why)


def _row(
    results: Sequence[ResultFile],
    game: str,
    place: tuple[str, int, str],
    settings: Mapping[str, Any],
) -> tuple[list[float] | None, str]:
    """Ours of the newest result, by opponent, seat and figure; or why there is none."""
    opponent, seat, figure = place
    if why := _PLAY[game.removesuffix(CLOSED)].get("not comparable"):
        return None, f"not comparable: {why}"
    for row, result in reversed(_tables(results, game, settings)):
        other = opponent == "llm" and not result.of_the_papers_model("llm")
        if row["opponent"] == opponent and not other and row["by seat"][seat].get(figure):
            return row["by seat"][seat][figure], ""
    if opponent == "llm":
        return None, f"not comparable: the opponent is {_MODEL}"
    return None, _not_run("cwm-arena", game, settings)


def _tables(
    results: Sequence[ResultFile], game: str, settings: Mapping[str, Any]
) -> list[tuple[Row, ResultFile]]:
    """The tables of the arena of a game, under the paper's protocol."""
    return [
        (row, result)
        for result in results
        if result.is_of("cwm-arena", settings)
        for row in result.samples
        if row.get("game") == game and row.get("protocol") == "paper"
    ]


@cache
def _tasks() -> dict[str, str]:
    """The first task of each game."""
    return {told.game: task for task, told in reversed(tasks().items())}


def _not_run(name: str, game: str, settings: Mapping[str, Any]) -> str:
    """The command that would run it; a model is asked for what no recording holds."""
    own = _tasks()[game]
    live = bool(settings) or not recording_of(own).exists()
    given = [f"--set {key}={value}" for key, value in settings.items()]
    given += ["--set syntheses=5"] * live
    games = own if name == "cwm-synthesis" else f"{game} --matches 200"
    asked = "RULEWRIGHT_MODEL=NAME " * live + f"rulewright eval run {name} --games {games}"
    return f"not run: `{' '.join([asked, *given])} --json`"
