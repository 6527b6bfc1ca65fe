"""Word accounting: every content word of a brief is explained or listed as not honoured.

What an unknown demand is made of must not leak into settings. "A bomb that clears three columns" is
a demand of its own, not a board of three columns: where a clause is built around words that no
lexicon knows, the phrases found inside it are given up, and the clause is listed as a whole.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from agents.composer.lexicon import PLAYERS, Lexicon, Name, Phrase
from agents.composer.loader import common, lexicon_of
from agents.composer.mentions import Mention, ParsedBrief, is_filler
from agents.composer.patterns import RANK_NAMES, SUITS
from agents.composer.tokens import Token, small_number, stems
from agents.protocols import Clause

_FEW = 2
IN_TITLE = "it is used in the title alone"
THEME_REASON = f"a theme changes no rule: {IN_TITLE}"
_CUT = re.compile(r"[,.;:!?()\n–]|\b(?:and|but)\b")
_PLAIN_CONDITIONS = stems("if when whenever while once during after except")
_WORD = re.compile(r"[^\W\d_]+")
_SKIPPED = re.compile(r"<one [^<>]+>")
_SURE = 2
CORRECTS = re.compile(
    r"\b(?:no,? wait|wait,? no|make (?:that|it)|i meant?|scratch that|correction"
    r"|on second thoughts?|or rather|sorry|actually)\b"
    r"|(?:(?<=[,.;:!?–—-] )|\A)(?:(?:hm+|oh|wait),? )?no(?= ?[,.;:–—-])",
    re.IGNORECASE,
)
"""Words after which a person says something anew."""
CONTRADICTS = "it contradicts"
CORRECTED = "the person corrected it afterwards"
_NEAR = 4
"""Tokens after a correction, among which its number stands."""
SUPPOSING = stems("if when whenever once after until unless")
"""Words that begin a condition."""
_OURSELVES = stems("we us")
"""Who is so counted plays, whatever else the same breath told."""
_RELATIVES = frozenset({"that", "who", "which", "whose"})


def _segments(parsed: ParsedBrief) -> list[list[int]]:
    """The brief's clauses as runs of token indices: cut at stops and at connectives.

    >>> from agents.composer.mentions import parse_brief
    >>> p = parse_brief("spades for two, and no trump")
    >>> [p.quote(run[0], run[-1]) for run in _segments(p)]
    ['spades for two', 'no trump']
    """
    runs: list[list[int]] = [[]]
    for index, token in enumerate(parsed.tokens):
        cuts = token.norm in common().connectives and token.norm not in common().conditions
        if token.kind == "stop" or cuts:
            runs.append([])
        elif token.norm in common().conditions and token.norm in common().connectives:
            runs.append([index])
        else:
            runs[-1].append(index)
    return [run for run in runs if run]


def corrections(parsed: ParsedBrief) -> set[int]:
    """Tokens of words that only take back what was said: "no wait", "scratch that"."""
    found = CORRECTS.finditer(parsed.words)
    return {index for match in found for index in parsed.inside(*match.span())}


def restated(parsed: ParsedBrief, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions, with a bare number after a correction as the number of the one before it.

    "for four players, no wait, three" says three players.
    """
    known = {index for mention in mentions for index in mention.covered}
    found = list(mentions)
    for last in (index for index in corrections(parsed) if index + 1 not in corrections(parsed)):
        after = parsed.content(range(last + 1, min(last + 1 + _NEAR, len(parsed.tokens))))
        before = [mention for mention in found if mention.covered[-1] < last]
        if not after or after[0] in known or parsed.tokens[after[0]].kind != "number" or not before:
            continue
        earlier = max(before, key=lambda mention: mention.covered)
        number = int(parsed.tokens[after[0]].norm)
        if len(earlier.capture.numbers) == 1 and isinstance(earlier.source, Phrase):
            capture = replace(earlier.capture, numbers=(number,))
            found.append(replace(earlier, covered=(after[0],), capture=capture))
            known.add(after[0])
    return sorted(found, key=lambda mention: mention.covered)


def leftovers(
    parsed: ParsedBrief, explained: Iterable[int], reason: Callable[[str], str]
) -> list[tuple[int, Clause]]:
    """Words that nothing explains, clause by clause, with the index of the first token."""
    known = set(explained)
    result = []
    for run in _segments(parsed):
        for piece in _unexplained(parsed, run, known):
            text = parsed.quote(piece[0], piece[-1])
            clause = Clause(text=text, status="not_honoured", reason=reason(text))
            result.append((piece[0], clause))
    return result


def _unexplained(parsed: ParsedBrief, run: Sequence[int], known: set[int]) -> list[list[int]]:
    tokens = parsed.tokens
    open_words = [i for i in run if i not in known and _demands(tokens[i])]
    hard = [i for i in open_words if tokens[i].norm not in common().soft]
    touched = any(i in known for i in run)
    if not hard and len(open_words) <= (_FEW if touched else 1):
        return []
    if not touched:
        return [_trimmed(parsed, run)]
    pieces: list[list[int]] = []
    for index in run:
        if index in known and not is_filler(tokens[index]):
            pieces.append([])
        elif index in open_words or not pieces or pieces[-1]:
            if not pieces:
                pieces.append([])
            pieces[-1].append(index)
    chosen = [_trimmed(parsed, [i for i in piece if i not in known]) for piece in pieces if piece]
    return [piece for piece in chosen if piece and any(i in hard or i in open_words for i in piece)]


def _demands(token: Token) -> bool:
    if token.norm in common().negators:
        return True
    if token.norm in _PLAIN_CONDITIONS:
        return False
    return not is_filler(token)


def _trimmed(parsed: ParsedBrief, run: Sequence[int]) -> list[int]:
    """The run without fillers at its ends, unless it has nothing else."""
    kept = list(run)
    while kept and not _demands(parsed.tokens[kept[0]]):
        if parsed.tokens[kept[0]].norm in common().conditions:
            break
        kept.pop(0)
    while kept and not _demands(parsed.tokens[kept[-1]]):
        kept.pop()
    return kept


def _themed(*clauses: Clause) -> bool:
    return any(clause.reason.endswith(IN_TITLE) for clause in clauses)


def whole(parsed: ParsedBrief, found: Sequence[tuple[int, Clause]]) -> list[Clause]:
    """The clauses in order; neighbouring pieces of one unhonoured demand become one clause."""
    result: list[tuple[int, Clause]] = []
    told = [clause.text for _, clause in found if clause.status == "honoured"]
    for at, clause in found:
        if clause.reason.startswith(CONTRADICTS) and any(clause.text in text for text in told):
            continue  # less of the same words
        start = parsed.tokens[at].start
        if result and clause.status == result[-1][1].status == "not_honoured":
            first, earlier = result[-1]
            end = first + len(earlier.text)
            between = parsed.words[end:start]
            if start >= end and not _CUT.search(between) and not _themed(earlier, clause):
                text = parsed.words[first : start + len(clause.text)]
                reasons = dict.fromkeys((*earlier.reason.split("; "), clause.reason))
                joined = Clause(text=text, status="not_honoured", reason="; ".join(reasons))
                result[-1] = first, joined
                continue
        result.append((start, clause))
    return [clause for _, clause in result]


@lru_cache(maxsize=32)
def vocabulary(family: str) -> frozenset[str]:
    """The stem of every word that a family's phrases, or those of every family, know."""
    shared = common()
    patterns = [*shared.themes, *shared.replaced, *shared.other_games]
    phrases = (*shared.player_counts, *shared.player_ranges, *shared.talk, *shared.refusals)
    patterns += [phrase.pattern for phrase in phrases]
    lexicon = lexicon_of(family)
    patterns += lexicon.hints
    patterns += [name.pattern for name in lexicon.names]
    patterns += [phrase.pattern for phrase in lexicon.phrases]
    patterns += [*SUITS, *(name for name in RANK_NAMES if name != "joker")]
    words = {word for pattern in patterns for word in _WORD.findall(_SKIPPED.sub("", pattern))}
    return stems(" ".join(words)) | shared.soft | shared.negators | shared.removers


def understood(
    parsed: ParsedBrief, mentions: Sequence[Mention], lexicon: Lexicon, apart: Iterable[int]
) -> list[Mention]:
    """The mentions without those that were only found inside a demand nobody understands.

    Args:
        parsed: The brief.
        mentions: What was found in it.
        lexicon: The family, whose words are no strangers.
        apart: Indices of tokens that belong to a title or a theme: unknown words are in order
            there.
    """
    given_up: set[int] = set()
    known = {index for mention in mentions for index in mention.covered} | set(apart)
    before_alien = False
    for run in _segments(parsed):
        inside = [n for n, mention in enumerate(mentions) if set(mention.covered) & set(run)]
        named = any(isinstance(mentions[n].source, Name) for n in inside)
        aliens = [] if named else [i for i in run if i not in known and strange(parsed, i, lexicon)]
        subordinate = parsed.tokens[run[0]].norm in common().conditions and not (
            run[0] and parsed.tokens[run[0] - 1].kind == "stop"
        )
        leaking = [n for n in inside if _leaks(parsed, run, aliens, mentions[n])]
        if parsed.tokens[run[0]].norm in SUPPOSING:
            leaking += [n for n in inside if _seats(mentions[n])]
        if subordinate and before_alien and not named:
            leaking = inside
        given_up.update(leaking)
        left = [n for n in inside if n not in given_up]
        before_alien = (bool(aliens) or (subordinate and before_alien)) and not left
    return [mention for n, mention in enumerate(mentions) if n not in given_up]


def strange(parsed: ParsedBrief, index: int, lexicon: Lexicon) -> bool:
    """True for a word that neither the family nor talk around games knows."""
    token = parsed.tokens[index]
    known = token.norm in vocabulary(lexicon.family) or small_number(token.text.lower()) is not None
    plain = is_filler(token) or token.norm in common().conditions | common().connectives
    return token.kind == "word" and not plain and not known


def _leaks(
    parsed: ParsedBrief, run: Sequence[int], aliens: Sequence[int], mention: Mention
) -> bool:
    if isinstance(mention.source, Phrase) and mention.source.refused:
        return False
    before = [i for i in aliens if i < mention.covered[0]]
    if _seats(mention):  # beside names: "Aunt Rosa's Letters for four"
        ourselves = any(parsed.tokens[i].norm in _OURSELVES for i in mention.covered)
        return not ourselves and sum(parsed.tokens[i].text.islower() for i in before) >= _SURE
    if len(aliens) >= _SURE or (before and _bare(parsed, mention)):
        return True
    between = range(before[0], mention.covered[0]) if before else ()
    return any(i in run and parsed.tokens[i].norm in _RELATIVES for i in between)


def _bare(parsed: ParsedBrief, mention: Mention) -> bool:
    """True for a mention of hardly more than a number and its unit."""
    content = parsed.content(mention.covered)
    return bool(mention.capture.numbers) and len(content) <= _SURE


def _seats(mention: Mention) -> bool:
    """True for a mention of the number of players; "if two players tie" is none."""
    if isinstance(mention.source, Name) or mention.source.always or mention.source.refused:
        return False
    return PLAYERS in mention.source.means(mention.capture)
