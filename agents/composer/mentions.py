"""Mentions: the phrases of the lexicons that stand in a brief, and under which negation.

What a person writes as NAME=VALUE, alone or among other words, is a mention too.
"""

import json
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from agents.composer.lexicon import PLAYERS, Lexicon, Name, Phrase, game_of
from agents.composer.loader import common
from agents.composer.patterns import Capture, Text
from agents.composer.tokens import (
    FUNCTION_WORDS,
    Token,
    merge_numbers,
    stem,
    stems,
    tokenise,
    unwrapped,
    word_set,
)
from games.values import Json

_PAIR = r"(\w+)\s*=\s*((?:[^\s,;=.]|\.\S)+(?:,(?!\w+\s*=)[^\s,;=.]+)*)"
_BESIDE = "()[]\"'“”!?"
_REACH = 3
_SHORT = 8
_TWO = 2
_CONDITION = 14
_DENIALS = frozenset({"not", "never"})
_UNITS = stems(
    "point trick second minute hour coin chip euro dollar row column square cell ship shot"
    " roll throw raise round deal percent time step move turn token"
)
_BY = frozenset({"x", "by"})
_DROP = stem("drop")
_NOTHING = stem("nothing")
_COUNTED = stems("player person child friend side opponent team man")
_FALLING = stems("token piece disc disk stone mark checker chip coin ball marker")
_ASKING = stems("how many")
_ANSWERS = stems("a answer we us there are just only they it is")
_SUBORDINATE = stems("who whoever anyone someone if when whenever once")
_ALLOWED = stems("allowed permitted used played possible counted")
_BEING = stems("is are was were be")
_AFTER = word_set("as is are be been being was were do does did must may can should will")


@dataclass(frozen=True)
class Mention:
    """One phrase found in the brief.

    Attributes:
        covered: Indices of the brief's tokens that it explains, in order.
        capture: What it captured.
        source: The phrase or the name that was found.
        negated: Whether the brief denies it.
        exact: Whether it is a setting by its own name, which goes before what other words say.
    """

    covered: tuple[int, ...]
    capture: Capture
    source: Phrase | Name
    negated: bool = False
    exact: bool = False


@dataclass(frozen=True)
class ParsedBrief:
    """A brief, read into tokens.

    Attributes:
        words: The brief as it was written.
        tokens: All of its tokens.
        kept: Indices of the tokens that state something; the rest names what is replaced.
        text: The kept tokens as one line.
        replaced: Runs of token indices after "instead of" and the like.
    """

    words: str
    tokens: tuple[Token, ...]
    kept: tuple[int, ...]
    text: Text
    replaced: tuple[tuple[int, ...], ...]

    def quote(self, first: int, last: int) -> str:
        """The brief's own words from one token to another, both included."""
        return self.words[self.tokens[first].start : self.tokens[last].end].strip()

    def inside(self, start: int, end: int) -> list[int]:
        """The tokens between two places of the words."""
        tokens = enumerate(self.tokens)
        return [index for index, token in tokens if start <= token.start and token.end <= end]

    def content(self, indices: Iterable[int]) -> list[int]:
        """Those tokens that are neither stops nor fillers."""
        return [i for i in indices if not is_filler(self.tokens[i])]


def is_filler(token: Token) -> bool:
    """True for a token that asks for nothing by itself."""
    if token.kind == "stop":
        return True
    return token.kind == "word" and (token.norm in FUNCTION_WORDS or token.norm in common().fillers)


def parse_brief(words: str) -> ParsedBrief:
    """Tokenise a brief; set aside what is only replaced, and commas after a condition."""
    words = unwrapped(words)
    tokens = merge_numbers(tokenise(words))
    whole = Text(tokens)
    replaced = []
    for pattern in common().replaced:
        for capture in whole.find(pattern):
            end = capture.covered[-1] + 1
            while end < len(tokens) and end - capture.covered[-1] <= _SHORT:
                norm = tokens[end].norm
                late = end > capture.covered[-1] + 1
                if (
                    tokens[end].kind == "stop"
                    or norm in common().connectives
                    or (late and norm in _AFTER)
                ):
                    break
                end += 1
            replaced.append(tuple(range(capture.covered[0], end)))
    gone = {index for run in replaced for index in run} | _joints(tokens)
    told = _as_told(tokens)
    replaced += [(i,) for i in range(len(tokens)) if i not in told]
    kept = tuple(index for index in told if index not in gone)
    return ParsedBrief(words, tokens, kept, Text([tokens[i] for i in kept]), tuple(replaced))


def _as_told(tokens: Sequence[Token]) -> list[int]:
    """The tokens' indices; a question that a bare number answers is told as a statement.

    "How many cards each? Seven." becomes "seven cards each.", "Q: players? A: 4" "4 players".
    """
    order: list[int] = []
    begins, asked = 0, False  # where the last clause stands in `order`, and whether it asked
    for index, token in enumerate(tokens):
        before = tokens[index - 1].norm if index else ""
        if token.kind == "stop" and token.norm != "?" and before not in _ANSWERS | {"?"}:
            order.append(index)
            begins, asked = len(order), False
            continue
        ends = index + 1 == len(tokens) or tokens[index + 1].kind == "stop"
        if token.kind == "number" and ends and order and _is_question(tokens, order[begins:]):
            words = list(takewhile(lambda i: tokens[i].norm != "?", order[begins:]))
            how = next((n for n, i in enumerate(words) if tokens[i].norm == "how"), 0)
            counted = [i for i in words[how:] if tokens[i].norm not in _ASKING]
            order[begins:] = [*words[:how], index, *counted] if how or counted else [*words, index]
            asked = False
            continue
        if asked and token.kind == "word" and token.norm not in _ANSWERS:
            begins, asked = len(order), False
        order.append(index)
        asked = asked or token.norm == "?"
    return order


def _is_question(tokens: Sequence[Token], run: Sequence[int]) -> bool:
    """True where tokens ask for a number, or name no more than what is counted."""
    marks = [place for place, i in enumerate(run) if tokens[i].norm == "?"]
    words = [tokens[i].norm for i in run[: marks[-1]]] if len(marks) == 1 else []
    return ("how", "mani") in pairwise(words) or 0 < len(words) <= _TWO


def _joints(tokens: Sequence[Token]) -> set[int]:
    """Stops that part nothing: "if you hit, you fire again", "a carrier (5)"."""
    found: set[int] = set()
    for index in range(len(tokens) - 2):
        opened, inside, closed = tokens[index : index + 3]
        if opened.norm == "(" and inside.kind == "number" and closed.norm == ")":
            found |= {index, index + 2}
    for index, token in enumerate(tokens):
        opens = index == 0 or tokens[index - 1].kind == "stop"
        opens = opens or tokens[index - 1].norm in common().connectives
        if token.norm not in common().conditions or not opens:
            continue
        rest = range(index + 1, min(index + _CONDITION, len(tokens)))
        stop = next((i for i in rest if tokens[i].kind == "stop"), None)
        if stop is not None and tokens[stop].norm == ",":
            found.add(stop)
    return found


def find_mentions(
    parsed: ParsedBrief,
    sources: Sequence[Phrase | Name],
    can_be: Callable[[Mention], bool] = lambda _: True,
) -> list[Mention]:
    """The phrases that stand in the brief; where two overlap, the one explaining more is kept.

    Args:
        parsed: The brief.
        sources: What is looked for.
        can_be: Whether a family can be what a mention says; one that it cannot explains less.
    """
    denied = [i for i in parsed.kept if parsed.tokens[i].norm in _DENIALS]
    bare = tuple(i for i in parsed.kept if i not in denied)
    bare_text = Text([parsed.tokens[i] for i in bare]) if denied else parsed.text
    candidates = []
    for order, source in enumerate(sources):
        places = [(parsed.kept, capture) for capture in parsed.text.find(source.pattern)]
        if denied and isinstance(source, Phrase) and not source.own_negation:
            places += [(bare, capture) for capture in bare_text.find(source.pattern)]
        for kept, capture in places:
            covered = _counted_apart(parsed, sorted(kept[i] for i in capture.covered))
            if covered and not of_unit(parsed, covered):
                candidates.append((order, Mention(covered, capture, source)))
    candidates.sort(
        key=lambda item: (
            not can_be(item[1]),
            -len(parsed.content(item[1].covered)),
            _spread(item[1]),
            isinstance(item[1].source, Phrase),
            -len(item[1].capture.covered),
            item[0],
        )
    )
    taken: set[int] = set()
    mentions = []
    for _, mention in candidates:
        content = set(parsed.content(mention.covered)) or set(mention.covered)
        if content & taken:
            continue
        taken |= content
        mentions.append(mention)
    mentions.sort(key=lambda mention: mention.covered)
    return _negated(parsed, mentions)


def _counted_apart(parsed: ParsedBrief, covered: list[int]) -> tuple[int, ...]:
    """The phrase without a player whom a number counts: "four | players get eight cards"."""
    whole = _trimmed(parsed, covered)
    if len(whole) < _TWO or not whole[0] or parsed.tokens[whole[0]].norm not in _COUNTED:
        return whole
    if parsed.tokens[whole[0] - 1].kind != "number":
        return whole
    return _trimmed(parsed, list(whole[1:]))


def of_unit(parsed: ParsedBrief, covered: Sequence[int]) -> bool:
    """True where a phrase ends in a number that counts something else.

    Such as "hands with six | points", matches: "best of | five", or a side: "battleship 8 | by 10".
    """
    last = covered[-1]
    if parsed.tokens[last].kind != "number":
        return False
    around = [token.norm for token in parsed.tokens[max(0, last - 2) : last + 2]]
    matches = around[:2] == ["best", "of"] and last - 2 not in covered
    after = parsed.tokens[last + 1 : last + 3]
    side = len(after) == _TWO and after[0].norm in _BY and after[1].kind == "number"
    return matches or side or (bool(after) and after[0].norm in _UNITS)


def _trimmed(parsed: ParsedBrief, covered: list[int]) -> tuple[int, ...]:
    """Without the function words and stops at either end, unless there is nothing else."""

    def loose(index: int) -> bool:
        token = parsed.tokens[index]
        joins = token.norm in FUNCTION_WORDS or token.norm in common().connectives
        return token.kind == "stop" or joins or token.norm == "for"

    inner = [i for i in covered if not loose(i)]
    return tuple(i for i in covered if not inner or inner[0] <= i <= inner[-1])


def _spread(mention: Mention) -> int:
    return mention.covered[-1] - mention.covered[0] + 1 - len(mention.covered)


def _negated(parsed: ParsedBrief, mentions: Sequence[Mention]) -> list[Mention]:
    """Give every mention the negation that stands before or inside it, and has no other use."""
    owned = {index for mention in mentions for index in mention.covered}
    result = []
    for mention in mentions:
        own_sense = isinstance(mention.source, Phrase) and mention.source.own_negation
        supposed = [
            i
            for i in range(mention.covered[0] + 1, mention.covered[-1])
            if parsed.tokens[i].norm in common().negators
            and i not in owned
            and _supposed(parsed, i, mention.covered[0])
        ]
        if supposed:
            mention = replace(mention, covered=tuple(sorted({*mention.covered, *supposed})))  # noqa: PLW2901
        found = _nothing(parsed, mention, owned)
        if found is None and not own_sense:
            found = _negator(parsed, mention, owned)
        if found is None:
            result.append(mention)
            continue
        owned.add(found)
        verb = {found + 1} if found in _forbidden(parsed, mention.covered[-1]) else set[int]()
        covered = tuple(sorted({*mention.covered, found} | verb))
        result.append(replace(mention, covered=covered, negated=not mention.negated))
    return result


def _negator(parsed: ParsedBrief, mention: Mention, owned: set[int]) -> int | None:
    first, last = mention.covered[0], mention.covered[-1]
    reach = 1 if isinstance(mention.source, Name) else _REACH
    before = []
    for index in range(first - 1, -1, -1):
        token = parsed.tokens[index]
        if token.kind == "stop" or token.norm in common().connectives or index in owned:
            if is_filler(token) and token.kind != "stop" and token.norm not in common().connectives:
                continue
            if token.norm == "without" and index not in owned:
                before.append(index)
            break
        before.append(index)
        if len([i for i in before if not is_filler(parsed.tokens[i])]) >= reach:
            break
    inside = [index for index in range(first, last) if index not in owned]
    described = isinstance(mention.source, Phrase) and mention.source.always
    end = min(last + _REACH, len(parsed.tokens)) if described else last + 1
    after = list(range(last + 1, end)) or _forbidden(parsed, last)
    for index in (*before, *inside, *after):
        if parsed.tokens[index].norm not in common().negators | common().removers or index in owned:
            continue
        if index < first and _of_another(parsed, index, first):
            continue
        if index in inside and _supposed(parsed, index, first):
            continue
        return index
    return None


def _nothing(parsed: ParsedBrief, mention: Mention, owned: set[int]) -> int | None:
    """The "nothing" that takes back the phrase before it: "rolling a 1 loses | nothing"."""
    at = mention.covered[-1] + 1
    while at < len(parsed.tokens) and parsed.tokens[at].norm in FUNCTION_WORDS:
        at += 1
    if at == len(parsed.tokens) or at in owned or isinstance(mention.source, Name):
        return None
    return at if parsed.tokens[at].norm == _NOTHING else None


def _forbidden(parsed: ParsedBrief, last: int) -> list[int]:
    """The negation that forbids what a phrase says: "asking again | is not allowed"."""
    after = [token.norm for token in parsed.tokens[last + 1 : last + 4]]
    kinds = (_AFTER | _BEING, common().negators, _ALLOWED)
    is_denied = len(after) == len(kinds) and all(map(operator.contains, kinds, after))
    return [last + 2] if is_denied else []


def _supposed(parsed: ParsedBrief, negator: int, first: int) -> bool:
    """True where a negation in a phrase only supposes: "must trump if you cannot follow"."""
    before = range(max(first + 1, negator - 3), negator)
    return any(parsed.tokens[i].norm in _SUBORDINATE for i in before)


def _of_another(parsed: ParsedBrief, negator: int, first: int) -> bool:
    """True where a negation denies its own verb before the phrase: "who cannot go draws".

    Also true of "drop" where it lets a piece fall and removes nothing.
    """
    between = [parsed.tokens[i] for i in range(negator + 1, first)]
    if parsed.tokens[negator].norm == _DROP:
        counted = first + 1 + (parsed.tokens[first].kind == "number")
        return any(token.norm in _FALLING for token in parsed.tokens[negator + 1 : counted])
    if all(is_filler(token) for token in between):
        return False
    for index in range(negator - 1, max(-1, negator - 4), -1):
        token = parsed.tokens[index]
        if token.kind == "stop":
            return False
        if token.norm in _SUBORDINATE:
            return True
    return False


def settings_chosen(answer: str) -> dict[str, Json]:
    """The settings of an answer that is nothing but NAME=VALUE pairs; empty for any other.

    >>> settings_chosen("ranks=13, suits=4 and board=0,3,1,1"), settings_chosen("make it rows=5")
    ({'ranks': 13, 'suits': 4, 'board': '0,3,1,1'}, {})
    >>> settings_chosen("players=3")
    {'num_players': 3}
    """
    if not re.fullmatch(rf"{_PAIR}(?:(?:\s|,|;|\band\b)+{_PAIR})*[\s.]*", answer.strip()):
        return {}
    return dict(_setting(name, value) for name, value in re.findall(_PAIR, answer))


def pairs_in(parsed: ParsedBrief, lexicon: Lexicon) -> list[Mention]:
    """The pairs of a brief that name how many play, a setting of the family, or none of any.

    What no setting is called, without a "_", may be anything: "the ace = 1 point".
    """
    found = []
    for match in re.finditer(_PAIR, parsed.words):
        name, value = _setting(match[1], match[2].strip(_BESIDE))
        if name != PLAYERS and name not in game_of(lexicon.family).parameters and "_" not in name:
            continue
        inside = (i for i, t in enumerate(parsed.tokens) if match.start() <= t.start < match.end())
        run = tuple(parsed.content(inside))
        if run and "<" not in match[2]:  # no hole, such as a phrase has
            numbers = (value,) if type(value) is int else ()
            capture = Capture(run, numbers, (), ())
            found.append(Mention(run, capture, Phrase("", sets={name: value}), exact=True))
    return found


def _setting(name: str, value: str) -> tuple[str, Json]:
    name = PLAYERS if name.lower() in ("players", "seats") else name.lower()
    with suppress(json.JSONDecodeError):
        return name, json.loads(value)
    return name, value
