"""Seats by meaning: how many play, where a brief counts persons and no phrase knows their word.

Persons are told as a list (see `persons`), as a number that plays ("three play"), or as a number of
beings that a phrase does not name ("three flatmates", "a flat share of five"): what is a being or a
group, and no part of a game, the embeddings tell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.composer.accounting import SUPPOSING, strange
from agents.composer.lexicon import PLAYERS, Lexicon, Phrase, game_of
from agents.composer.loader import common
from agents.composer.meaning.persons import (
    BEING,
    OWNERS,
    PLAY,
    Company,
    nearness,
    plays_after,
    plays_before,
)
from agents.composer.meaning.statements import Embed
from agents.composer.mentions import Mention, ParsedBrief, is_filler
from agents.composer.patterns import Capture
from agents.composer.tokens import FUNCTION_WORDS, Token, stem, stems, word_set
from games.values import Json

_TILL = word_set("to till until or and – -")
_GROUPS = ("group", "gang", "crew", "family", "table", "party", "club", "class", "team")
_GROUP_STEMS = stems(" ".join(_GROUPS))
_SPARSE = stems("only just there is are we have exactly as few")
_PERSONS = stems("us player people person friend")
_COMING = stems("turn show come attend arrive play sit make around here home free join")
_JOINING = frozenset({"and", "but"})
_ONE_NUMBER = "a condition; how many play is one number for the whole game"
_SOME = "it is said of some of the players, not of how many play"
_PICKED = stems("next first last top bottom best worst")
_EXTREME = stems("most fewest least highest lowest best worst")
_ASIDE = stems("least most only all and but or")
_FEWER, _MORE = stems("less fewer few"), stem("more")
_GROUP = 0.02  # least lead of a word's nearness to groups
_MOST = 8
_BOUNDS = 7  # words from one bound to the other
_FEW = 4  # words from a number to what it counts: "six dino-mad kids"
_OWNED = stems("each every per have give get with contain use own than")


def with_seats(
    parsed: ParsedBrief, lexicon: Lexicon, mentions: Sequence[Mention], embed: Embed | None
) -> list[Mention]:
    """The mentions of a brief, of how many play the surest alone.

    A number beside a word for persons is surer than a list of persons, and that surer than words
    such as "duel". Beings are counted where nothing else tells.
    """
    company = Company(parsed, lambda at: strange(parsed, at, lexicon), embed)
    persons = [_mention(one.covered, one.number) for one in company.everybody()]
    listed = [one for one in persons if seatable(lexicon, one)][:1]
    mentions = _surest([_bounded(parsed, one) for one in mentions], parsed, lexicon)
    seats = [one for one in mentions if _number(one) and not one.negated]
    inside = {index for one in listed for index in one.covered}
    counted = [one for one in seats if one.capture.numbers and seatable(lexicon, one)]
    told = [_number(one) for one in counted if not inside & {*one.covered}]
    told = told or [_number(one) for one in seats if _number(one) in map(_number, listed)]
    if told:
        unsure = [one for one in seats if one not in counted and _number(one) not in told]
        return [one for one in mentions if one not in unsure]
    found = listed
    if not seats and not listed and embed is not None:
        counted = [*_bracketed(parsed), *_grouped(parsed, embed), *_beings(parsed, embed)]
        other = {index for one in mentions if _tells(one) for index in one.covered}
        free = [one for one in counted if not {*one.covered} & other]
        found = [one for one in free if seatable(lexicon, one)][:1]
    taken = {index for one in found for index in one.covered}
    beside = [*seats] if listed else []
    kept = [one for one in mentions if one not in beside and not taken & {*one.covered}]
    return sorted([*kept, *found], key=lambda one: one.covered) if found else kept


def _surest(mentions: Sequence[Mention], parsed: ParsedBrief, lexicon: Lexicon) -> list[Mention]:
    """The mentions; a number that plays goes before others, kin who do not play after others."""
    playing = [one for one in _playing(parsed) if seatable(lexicon, one)][:1]
    taken = {index for one in playing for index in one.covered}
    if playing:
        kept = [one for one in mentions if not _number(one) and not taken & {*one.covered}]
        return sorted([*kept, *playing], key=lambda one: one.covered)
    seats = [one for one in mentions if _number(one)]
    idle = [one for one in seats if one.capture.numbers and _only_owned(parsed, one)]
    active = [one for one in seats if one not in idle]
    with_play = any(plays_before(parsed.tokens, one.covered[0]) for one in active)
    return [one for one in mentions if not with_play or one not in idle]


def _only_owned(parsed: ParsedBrief, mention: Mention) -> bool:
    """True where persons are somebody's, and the brief does not say that they play."""
    first, end = mention.covered[0], mention.covered[-1] + 1
    owned = first > 0 and parsed.tokens[first - 1].norm in OWNERS
    return owned and not (plays_after(parsed.tokens, end) or plays_before(parsed.tokens, first))


def _bounded(parsed: ParsedBrief, mention: Mention) -> Mention:
    """A denied bound as the bound that it is: "never less than 3 of us and never more than six"."""
    if not (mention.negated and _number(mention) and isinstance(mention.source, Phrase)):
        return mention
    covered = range(mention.covered[0], mention.covered[-1] + 1)
    words = {parsed.tokens[index].norm for index in covered}
    if not words & {*_FEWER, _MORE}:
        return mention
    bound = "smallest of these" if words & _FEWER else "largest allowed"
    says = f"a game is built for one number of players; the {bound} was taken"
    last = covered[-1]
    for at in range(last + 1, min(last + _BOUNDS, len(parsed.tokens) - 2)):
        norms = [token.norm for token in parsed.tokens[at : at + 2]]
        if norms == [_MORE, "than"] and parsed.tokens[at + 2].kind == "number":
            covered = range(covered[0], at + 3)
            break
    source = replace(mention.source, assumes=says)
    return replace(mention, covered=tuple(covered), source=source, negated=False)


def _tells(mention: Mention) -> bool:
    """True where a mention is refused, or is not of the number of players."""
    return isinstance(mention.source, Phrase) and not _number(mention)


def on_occasion(parsed: ParsedBrief, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions; what a condition says of some players is refused as how many play.

    "When only five of us turn up" may still mean that five play; "if two players tie" does not.
    """
    others = [one for one in mentions if not _number(one)]
    taken = {index for one in others for index in one.covered}
    ruled = {index for one in others if isinstance(one.source, Phrase) for index in one.covered}
    found = []
    for one in mentions:
        run, comes = range(0), False
        if _number(one):
            run, comes = _condition(parsed.tokens, one.covered, ruled)
        if run:
            told = parsed.content(run) if comes else one.covered
            sets = {PLAYERS: _number(one)} if comes else {}
            covered = tuple(i for i in told if i not in taken)
            one = replace(one, covered=covered, source=Phrase("", sets=sets, refused=_ONE_NUMBER))
        elif _number(one) and _of_some(parsed.tokens, one):
            one = replace(one, source=Phrase("", refused=_SOME))
        found.append(one)
    return [one for one in found if one.covered]


def _of_some(tokens: Sequence[Token], mention: Mention) -> bool:
    """True where a number is of some players: "skip the next two players"."""
    at = next((i for i in mention.covered if tokens[i].kind == "number"), 0)
    before, end = tokens[at - 1].norm if at else "", mention.covered[-1] + 1
    after = [token.norm for token in tokens[at + 1 : at + 3]]
    rest = [token.norm for token in tokens[end : end + _FEW]]
    most = before == "the" and rest[:1] == ["with"] and bool(_EXTREME & {*rest})
    part = after in (["of", "the"], ["of", "these"]) and not plays_after(tokens, end)
    return tokens[at].kind == "number" and (before in _PICKED or most or part)


def _condition(
    tokens: Sequence[Token], covered: Sequence[int], ruled: set[int]
) -> tuple[range, bool]:
    """The condition that begins with a number, and whether it says no more than who comes.

    It opens a clause, or stands behind a rule: "deal six when only five of us turn up".
    """
    first, end = covered[0] - 1, covered[-1] + 1
    while first >= 0 and tokens[first].norm in _SPARSE:
        first -= 1
    while end < len(tokens) and tokens[end].kind != "stop":
        end += 1
    before = tokens[first - 1] if first > 0 else None
    opens = before is None or before.kind == "stop" or before.norm in _JOINING or first - 1 in ruled
    if first < 0 or tokens[first].norm not in SUPPOSING or not opens:
        return range(0), False
    rest = {token.norm for token in tokens[covered[-1] + 1 : end]} - FUNCTION_WORDS - _PERSONS
    return range(first, end), not rest or bool(rest & _COMING)


def _number(mention: Mention) -> Json:
    """The number of players that a mention tells of, and of nothing else; None for another."""
    source = mention.source
    if not isinstance(source, Phrase) or source.refused:
        return None
    said = source.means(mention.capture)
    return said[PLAYERS] if set(said) == {PLAYERS} else None


def seatable(lexicon: Lexicon, mention: Mention) -> bool:
    """True where the family seats the number that a mention gives."""
    number, game = _number(mention), game_of(lexicon.family)
    return isinstance(number, int) and game.min_players <= number <= game.max_players


def _mention(covered: Sequence[int], number: int) -> Mention:
    capture = Capture(tuple(covered), (number,), (), ())
    return Mention(tuple(covered), capture, Phrase("", sets={PLAYERS: number}))


def _playing(parsed: ParsedBrief) -> Iterator[Mention]:
    """Numbers that play, or turn up: "only two play at a time"."""
    tokens = parsed.tokens
    for at in parsed.kept:
        if (
            at + 1 == len(tokens)
            or tokens[at].kind != "number"
            or not 1 < int(tokens[at].norm) <= _MOST
        ):
            continue
        before = tokens[at - 1] if at else None
        verb = [token.norm for token in tokens[at + 1 : at + 3]]
        loose = (
            before is None
            or before.kind == "stop"
            or before.norm in (FUNCTION_WORDS | _ASIDE) - {"of"}
        )
        plays = verb[0] in PLAY and tokens[at + 1].norm == tokens[at + 1].text.lower()
        if loose and (plays or verb in (["turn", "up"], ["show", "up"])):
            covered = range(at, at + 1 + len(verb) - plays)
            if not _condition(tokens, covered, set())[0]:
                yield _mention(covered, int(tokens[at].norm))


def _grouped(parsed: ParsedBrief, embed: Embed) -> Iterator[Mention]:
    """The number of a group that no phrase names: "a flat share of five", not "best of five"."""
    tokens = parsed.tokens
    for at in parsed.kept:
        if at <= 1 or tokens[at].kind != "number" or tokens[at - 1].norm != "of":
            continue
        ends = at + 1 == len(tokens) or is_filler(tokens[at + 1])
        if ends and nearness(tokens[at - 2].text, _GROUPS, embed) >= _GROUP:
            yield _mention([at - 2, at - 1, at], int(tokens[at].norm))


def _bracketed(parsed: ParsedBrief) -> Iterator[Mention]:
    """A number alone in brackets, behind a group or a title: "my D&D group (4)"."""
    tokens = parsed.tokens
    for at in range(1, len(tokens) - 2):
        opened, inside, closed = tokens[at : at + 3]
        if (opened.norm, inside.kind, closed.norm) == ("(", "number", ")"):
            ends_title = "\n" not in parsed.words[: opened.start] and (
                at + 3 == len(tokens) or "\n" in parsed.words[closed.end : tokens[at + 3].end]
            )
            if tokens[at - 1].norm in _GROUP_STEMS or ends_title:
                yield _mention([at + 1], int(inside.norm))


def _beings(parsed: ParsedBrief, embed: Embed) -> Iterator[Mention]:
    """Numbers of beings that nobody owns: "three dragons", not "each has three dragons"."""
    tokens = parsed.tokens
    for at in parsed.kept:
        if tokens[at].kind != "number" or not 1 < int(tokens[at].norm) <= _MOST:
            continue
        first = at - 2 if _is_range(tokens, at) else at
        noun = _plural_after(tokens, at)
        if noun is None or _owned(tokens, first, noun, embed):
            continue
        covered = range(first, noun + 1)
        if _condition(tokens, covered, set())[0] or tokens[first - (first > 0)].norm in _PICKED:
            continue
        if nearness(tokens[noun].text, common().beings, embed) >= BEING:
            yield _mention(covered, int(tokens[first].norm))


def _owned(tokens: Sequence[Token], first: int, noun: int, embed: Embed) -> bool:
    """True where the counted persons belong to a player, or are kin of others.

    A group's members are its own: "our circle has five members".
    """
    before = [token.norm for token in tokens[max(0, first - 2) : first]]
    if before[-1:] == ["have"]:
        return nearness(tokens[first - 2].text, _GROUPS, embed) < _GROUP
    theirs = before[-1:] in (["his"], ["her"], ["their"])
    return bool({*before} & _OWNED) or (theirs and not plays_after(tokens, noun + 1))


def _plural_after(tokens: Sequence[Token], at: int) -> int | None:
    """The noun that a number counts: the first plural of the few words after it."""
    for index in range(at + 1, min(at + _FEW + 1, len(tokens))):
        word = tokens[index].text.lower()
        if word.endswith("s") or word in common().beings:
            return index
        if word != "-" and (tokens[index].kind != "word" or tokens[index].norm in FUNCTION_WORDS):
            return None
    return None


def _is_range(tokens: Sequence[Token], at: int) -> bool:
    """True where a number is the larger of two: "two to six"."""
    return at > 1 and tokens[at - 1].norm in _TILL and tokens[at - 2].kind == "number"
