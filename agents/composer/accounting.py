"""Word accounting: every content word of a brief is explained or listed as not honoured."""

import re
from collections.abc import Callable, Iterable, Sequence

from agents.composer.common import CONDITIONS, CONNECTIVES, NEGATORS, SOFT
from agents.composer.hits import Prompt, is_filler
from agents.composer.words import Token, stem
from agents.protocols import Clause

_FEW = 2
IN_TITLE = "it is used in the title alone"
THEME_REASON = f"a theme changes no rule: {IN_TITLE}"
_CUT = re.compile(r"[,.;:!?()\n–]|\b(?:and|but)\b")
_PLAIN_CONDITIONS = frozenset(
    map(stem, ("if", "when", "whenever", "while", "once", "during", "after", "except"))
)


def segments(prompt: Prompt) -> list[list[int]]:
    """The brief's clauses as runs of token indices: cut at stops and at connectives.

    >>> from agents.composer.hits import read_prompt
    >>> p = read_prompt("spades for two, and no trump")
    >>> [p.quote(run[0], run[-1]) for run in segments(p)]
    ['spades for two', 'no trump']
    """
    runs: list[list[int]] = [[]]
    for index, token in enumerate(prompt.tokens):
        cuts = token.norm in CONNECTIVES and token.norm not in CONDITIONS
        if token.kind == "stop" or cuts:
            runs.append([])
        elif token.norm in CONDITIONS and token.norm in CONNECTIVES:
            runs.append([index])
        else:
            runs[-1].append(index)
    return [run for run in runs if run]


def leftovers(
    prompt: Prompt, explained: Iterable[int], reason: Callable[[str], str]
) -> list[tuple[int, Clause]]:
    """What nothing explains, clause by clause, with the index of its first token."""
    known = set(explained)
    result = []
    for run in segments(prompt):
        for piece in _unexplained(prompt, run, known):
            text = prompt.quote(piece[0], piece[-1])
            clause = Clause(text=text, status="not_honoured", reason=reason(text))
            result.append((piece[0], clause))
    return result


def _unexplained(prompt: Prompt, run: Sequence[int], known: set[int]) -> list[list[int]]:
    tokens = prompt.tokens
    open_words = [i for i in run if i not in known and _demands(tokens[i])]
    hard = [i for i in open_words if tokens[i].norm not in SOFT]
    touched = any(i in known for i in run)
    if not hard and len(open_words) <= (_FEW if touched else 1):
        return []
    if not touched:
        return [_trimmed(prompt, run)]
    pieces: list[list[int]] = []
    for index in run:
        if index in known and not is_filler(tokens[index]):
            pieces.append([])
        elif index in open_words or not pieces or pieces[-1]:
            if not pieces:
                pieces.append([])
            pieces[-1].append(index)
    chosen = [_trimmed(prompt, [i for i in piece if i not in known]) for piece in pieces if piece]
    return [piece for piece in chosen if piece and any(i in hard or i in open_words for i in piece)]


def _demands(token: Token) -> bool:
    if token.norm in NEGATORS:
        return True
    if token.norm in _PLAIN_CONDITIONS:
        return False
    return not is_filler(token)


def _trimmed(prompt: Prompt, run: Sequence[int]) -> list[int]:
    """The run without fillers at its ends, unless it has nothing else."""
    kept = list(run)
    while kept and not _demands(prompt.tokens[kept[0]]):
        if prompt.tokens[kept[0]].norm in CONDITIONS:
            break
        kept.pop(0)
    while kept and not _demands(prompt.tokens[kept[-1]]):
        kept.pop()
    return kept


def _themed(*clauses: Clause) -> bool:
    return any(clause.reason.endswith(IN_TITLE) for clause in clauses)


def whole(prompt: Prompt, found: Sequence[tuple[int, Clause]]) -> list[Clause]:
    """The clauses in order; neighbouring pieces of one unhonoured demand become one clause."""
    result: list[tuple[int, Clause]] = []
    for at, clause in found:
        start = prompt.tokens[at].start
        if result and clause.status == result[-1][1].status == "not_honoured":
            first, earlier = result[-1]
            end = first + len(earlier.text)
            between = prompt.words[end:start]
            if start >= end and not _CUT.search(between) and not _themed(earlier, clause):
                text = prompt.words[first : start + len(clause.text)]
                reasons = dict.fromkeys((*earlier.reason.split("; "), clause.reason))
                reason = "; ".join(reasons)
                result[-1] = (
                    first,
                    Clause(text=text, status="not_honoured", reason=reason),
                )
                continue
        result.append((start, clause))
    return [clause for _, clause in result]
