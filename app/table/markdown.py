"""Markdown as blocks, as rulebooks use it: the page and what is printed read it alike."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from games.text import plain_text

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|(\d+)[.)])\s+(.*)")
_ROW = re.compile(r"\s*\|(.*)\|\s*")
_QUOTE = re.compile(r"\s*>\s?(.*)")
_FENCE = re.compile(r"```.*")
_RULE = re.compile(r"[\s|:-]+")


@dataclass(frozen=True)
class MarkdownBlock:
    """A heading, an item of a list, a quoted line, a table, lines of code, or a paragraph.

    Attributes:
        kind: Which of them.
        words: Its words, with the marks of emphasis; of code the lines as they are.
        level: Of a heading, from 1.
        number: Of an item, where it has one.
        rows: Cells of a table.
    """

    kind: Literal["head", "item", "quote", "table", "code", "text"]
    words: str = ""
    level: int = 0
    number: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


def markdown_blocks(text: str) -> Iterator[MarkdownBlock]:
    r"""The blocks of a text, without what is unseen; lines of a paragraph are one.

    >>> [(one.kind, one.words) for one in markdown_blocks("# Whist\n\n- **R1**: Play\n  on.\nA\nb")]
    [('head', 'Whist'), ('item', '**R1**: Play on.'), ('text', 'A b')]
    >>> next(markdown_blocks("| a | b |\n|---|---|\n| 1 | 2 |")).rows
    (('a', 'b'), ('1', '2'))
    >>> next(markdown_blocks("```diff\n-  a\n\n+  b\n```")).words
    '-  a\n\n+  b'
    """
    lines = [*plain_text(text).splitlines(), ""]
    waiting: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        heading, item, row, quote, fence = (
            form.fullmatch(line) for form in (_HEADING, _ITEM, _ROW, _QUOTE, _FENCE)
        )
        if (heading or item or row or quote or fence or not line.strip()) and waiting:
            yield MarkdownBlock("text", " ".join(waiting))
            waiting = []
        if heading:
            yield MarkdownBlock("head", heading[2].strip(), level=len(heading[1]))
        elif quote:
            yield MarkdownBlock("quote", quote[1].strip())
        elif row:
            rows = [*takewhile(_ROW.fullmatch, lines[at:])]
            yield MarkdownBlock("table", rows=_cells(rows))
            at += len(rows) - 1
        elif item:
            more = [*takewhile(_goes_on, lines[at + 1 :])]
            words = " ".join([item[2].strip(), *map(str.strip, more)])
            yield MarkdownBlock("item", words, number=item[1] or "")
            at += len(more)
        elif fence:
            code = [*takewhile(lambda inner: not _FENCE.fullmatch(inner), lines[at + 1 :])]
            yield MarkdownBlock("code", "\n".join(code).rstrip("\n"))
            at += len(code) + 1
        elif line.strip():
            waiting.append(line.strip())
        at += 1


def _goes_on(line: str) -> bool:
    """True for a line that belongs to the item before it."""
    return line.startswith("  ") and bool(line.strip()) and not _ITEM.fullmatch(line)


def _cells(lines: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
        for line in lines
        if not _RULE.fullmatch(line)
    )
