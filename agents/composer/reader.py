"""Reader of briefs: which family, which settings, and what became of every word."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.composer.accounting import (
    CORRECTED,
    IN_TITLE,
    THEME_REASON,
    corrections,
    leftovers,
    restated,
    strange,
    understood,
    whole,
)
from agents.composer.lexicon import PLAYERS, Lexicon, Name, Phrase, game_of
from agents.composer.loader import check_settings, common, lexicons
from agents.composer.meaning.seats import on_occasion, with_seats
from agents.composer.meaning.settings import settings_by_meaning
from agents.composer.meaning.statements import Embed
from agents.composer.mentions import (
    Mention,
    ParsedBrief,
    find_mentions,
    is_filler,
    pairs_in,
    parse_brief,
)
from agents.composer.patterns import Text
from agents.composer.settle import Base, Interpretation, can_be, settle
from agents.composer.tokens import stems
from agents.protocols import Choices, Clause, RoleError
from games.library import preset, presets
from games.values import Json

_NAMED = re.compile(
    r"\b(?:called|named|titled|entitled)\s+(?:\"([^\"]{1,60})\"|“([^”]{1,60})”|'([^']{1,60})'"
    r"|((?:[A-Z0-9][\w']*)(?:\s+(?:of|the|and|in|[A-Z0-9][\w']*)){0,5}))"
)
_QUOTED = re.compile(
    r"""\b(?:called|named|titled|title:|name:)\s+["“'‘]([^"”'’]{2,60})["”'’]|"""
    r"""(?<!\w)["“]([^"”]{2,60})["”]\s*[:—–-]"""
)
_HEADING = (
    r"\s*(?:#+\s*|[Tt]itle:?\s+)?"
    r"([A-Z0-9][\w'’-]*(?:\s+(?:of|the|and|in|[A-Z0-9][\w'’-]*)){1,5}"
)
_HEAD = re.compile(_HEADING + r")(?:\s*:|\s+[–—-]\s|\s*\n)")
_TOP = re.compile(_HEADING + r"\s+[–—-]\s[^\n]{2,40})\n\s*\S")
"""A first line of its own is the title as a whole: "Night Owls - a trick game"."""
NO_SETTING = "no setting of"
"""How the reason begins where nothing explains a demand."""
_NEAR = 0.75
_LINES = {"tic_tac_toe", "placement"}
_ANNOUNCING = stems(
    "theme themed about around regarding concerning involving featuring set setting story"
    " world universe inspired"
)


@dataclass(frozen=True)
class Reading:
    """The reading of a brief.

    Attributes:
        lexicon: The family's words.
        chosen: The preset the brief names, or the family.
        num_players: How many play.
        seated: Whether the brief or a choice says how many.
        parameters: All parameters of the family, effective.
        asked: The parameters that the brief sets itself.
        clauses: What became of every demand, in the brief's order.
        assumptions: What the words left open.
        unseated: Number of players that the brief asks for and the family cannot seat; 0: none.
    """

    lexicon: Lexicon
    chosen: str
    num_players: int
    seated: bool
    parameters: dict[str, Json]
    asked: dict[str, Json]
    clauses: tuple[Clause, ...]
    assumptions: tuple[str, ...]
    unseated: int = 0

    @property
    def named(self) -> bool:
        """True where the brief names the game, not only what is in it."""
        return any(clause.setting.startswith("game=") for clause in self.clauses)


def family_scores(parsed: ParsedBrief) -> dict[str, int]:
    """Evidence for each family, from the brief's words; zero where nothing points to it."""
    scores = {}
    for lexicon in lexicons():
        score = sum(weight for word, weight in lexicon.hints.items() if parsed.text.find(word))
        for mention in find_mentions(parsed, (*lexicon.names, *lexicon.phrases)):
            if isinstance(mention.source, Name):
                score += 0 if mention.negated else mention.source.weight
            elif score:
                score += len(_telling(parsed, mention))
        scores[lexicon.family] = score
    return scores


def _telling(parsed: ParsedBrief, mention: Mention) -> list[int]:
    return [i for i in parsed.content(mention.covered) if parsed.tokens[i].kind == "word"]


def find_reading(words: str, choices: Choices | None = None) -> Reading | None:
    """The brief as a game of the family its words point to, or None where they point to none.

    Where the words point to several families almost alike, the one that leaves fewest demands
    open is taken.
    """
    scores = family_scores(parse_brief(words))
    best = max(scores.values(), default=0)
    if not best:
        return None
    near = {x.family for x in lexicons() if scores[x.family] >= _NEAR * best}
    return reading_near(words, near, scores, choices)


def reading_near(
    words: str,
    near: set[str],
    scores: Mapping[str, int],
    choices: Choices | None = None,
    embed: Embed | None = None,
) -> Reading:
    """The reading, among these families, that leaves fewest demands open.

    Lines on a small square and n in a row are near each other always. A family that cannot take
    what the person chose is none of them.

    Raises:
        RoleError: If none of them can take it.
    """
    if near & _LINES:
        near = near | _LINES
    readings, refusal = [], None
    for lexicon in lexicons():
        try:
            readings += [read(words, lexicon, choices, embed)] if lexicon.family in near else []
        except RoleError as error:
            refusal = error
    if not readings and refusal is not None:
        raise refusal
    readings = [reading for reading in readings if not _other_lines(reading, readings)]
    return min(readings, key=lambda reading: (_open(reading), -scores[reading.lexicon.family]))


def _other_lines(reading: Reading, readings: Sequence[Reading]) -> bool:
    """True where a reading is in the wrong one of the two families of lines.

    A board and a line length, both stated, are a game of n in a row, however it is called, so that
    another board changes the board alone. A lost line on three by three is tic-tac-toe.
    """
    lines = {other.lexicon.family: other for other in readings if other.lexicon.family in _LINES}
    if set(lines) != _LINES or reading.lexicon.family not in _LINES:
        return False
    asked, square = lines["placement"].asked, lines["tic_tac_toe"]
    if not square.named:
        return False
    stated = {"rows", "columns", "connect"} <= asked.keys()
    sides = {asked.get(name, 3) for name in ("rows", "columns", "connect")}
    small = sides in ({3}, {square.parameters["size"]})
    plain = small and (square.parameters["misere"] is True or not stated or "wild" in square.asked)
    wanted = "tic_tac_toe" if plain and _open(square) <= _open(lines["placement"]) else "placement"
    return (stated or plain) and reading.lexicon.family != wanted


def _open(reading: Reading) -> int:
    """The number of demands that a reading does not honour, without those taken back."""
    lost = (clause for clause in reading.clauses if clause.status == "not_honoured")
    return sum(clause.reason != CORRECTED for clause in lost)


def read(
    words: str, lexicon: Lexicon, choices: Choices | None = None, embed: Embed | None = None
) -> Reading:
    """Read a brief as a game of one family; with `embed`, also what only its meaning tells.

    Raises:
        RoleError: If what the person chose beside it is unknown, out of bounds or impossible.
    """
    check_settings(lexicon)
    parsed = parse_brief(words)
    title, titled = _title(parsed, _NAMED.search(parsed.words))
    _, head = ("", []) if titled else _title(parsed, _HEAD.match(parsed.words))
    theme = _theme_of(parsed)
    taken_back = corrections(parsed)
    mentions = _heard(parsed, lexicon, taken_back.union(titled), {*head, *theme}, embed)
    theme = theme or _bare_theme(parsed, mentions, lexicon)
    chosen = _preset(mentions) or lexicon.family
    if choices and choices.family is not None and choices.family in presets():
        chosen = choices.family
    spoken = [mention for mention in mentions if not _is_talk(mention)]
    settled = settle(parsed, lexicon, _base(lexicon, chosen, mentions), spoken, choices)
    explained = {index for mention in mentions for index in mention.covered} | set(titled)
    explained |= _replaced(parsed, spoken) | taken_back
    if titled or (head and not explained & set(head)):
        run, named = titled or head, title or own_title(parsed.words)
        text = parsed.quote(run[0], run[-1]).rstrip(" :–—-")
        settled.honour(run[0], text, f"title={named}")
        explained |= set(run)
    if theme and not explained & set(theme):
        settled.lose(theme[0], parsed.quote(theme[0], theme[-1]), _theme_reason(parsed, theme))
        explained |= set(theme)
    settled.clauses += leftovers(parsed, explained, lambda text: _reason(text, lexicon))
    num_players, parameters = settled.effective()
    clauses = tuple(whole(parsed, sorted(settled.clauses, key=lambda item: item[0])))
    return Reading(
        lexicon=lexicon,
        chosen=chosen,
        num_players=num_players,
        seated=bool(settled.players),
        parameters=parameters,
        asked=dict(settled.parameters),
        clauses=clauses,
        assumptions=_assumptions(settled, lexicon, num_players),
        unseated=0 if settled.players else settled.unseated,
    )


def _heard(
    parsed: ParsedBrief, lexicon: Lexicon, gone: set[int], beside: set[int], embed: Embed | None
) -> list[Mention]:
    """The meaning of the words, without those that are `gone` and rules `beside` them."""
    pairs = pairs_in(parsed, lexicon)
    masked = _without(parsed, gone.union(*(pair.covered for pair in pairs)))
    found = on_occasion(masked, _phrases_in(masked, lexicon))
    found = restated(parsed, understood(parsed, found, lexicon, gone | beside))
    mentions = with_seats(parsed, lexicon, [*pairs, *found], embed)
    if embed is not None:
        mentions += settings_by_meaning(parsed, lexicon, mentions, embed)
    return mentions


def _phrases_in(parsed: ParsedBrief, lexicon: Lexicon) -> list[Mention]:
    """The phrases found: those of seats, of the family, and of every game.

    Beside a surer name a preset's is none: "tic-tac-toe with four in a row" says a line's length.
    """
    shared = common()
    counts = (*shared.player_ranges, *shared.player_counts)
    phrases = (*counts, *lexicon.phrases, *shared.refusals, *shared.talk)
    sources: list[Name | Phrase] = [*lexicon.names, *phrases]

    def heard(sources: Sequence[Name | Phrase]) -> list[Mention]:
        return find_mentions(parsed, sources, lambda mention: can_be(lexicon, mention))

    found = heard(sources)
    named = [m.source for m in found if isinstance(m.source, Name) and not m.negated]
    lighter = [name for name in named if name.preset and name.weight < max(n.weight for n in named)]
    return heard([source for source in sources if source not in lighter]) if lighter else found


def _is_talk(mention: Mention) -> bool:
    return isinstance(mention.source, Phrase) and mention.source.always == common().talk[0].always


def _preset(mentions: Sequence[Mention]) -> str:
    named = [h.source.preset for h in mentions if isinstance(h.source, Name) and not h.negated]
    return next((name for name in named if name), "")


def _base(lexicon: Lexicon, chosen: str, mentions: Sequence[Mention]) -> Base:
    """The values before the brief sets anything: the preset's, or the family's."""
    fixed = preset(chosen)
    own = lexicon.base if chosen == lexicon.family else fixed.parameters
    said: dict[str, Json] = {}
    for mention in mentions:
        if isinstance(mention.source, Name) and not mention.negated:
            said |= mention.source.sets
    usual = lexicon.players if chosen == lexicon.family else fixed.players
    return Base(chosen, usual, {**game_of(lexicon.family).defaults(), **own, **said})


def _without(parsed: ParsedBrief, gone: set[int]) -> ParsedBrief:
    """The same parsed, in which some tokens state nothing."""
    if not gone:
        return parsed
    kept = tuple(index for index in parsed.kept if index not in gone)
    text = Text([parsed.tokens[index] for index in kept])
    return ParsedBrief(parsed.words, parsed.tokens, kept, text, parsed.replaced)


def own_title(words: str) -> str:
    r"""The title that the person gave the game, or nothing.

    >>> own_title('a bluffing game called "Liar Queen" for four')
    'Liar Queen'
    >>> own_title("Moonlit Tricks: a trick-taking game for three")
    'Moonlit Tricks'
    >>> own_title("Night Owls - a trick game\nfor four"), own_title("Night Owls - a trick game")
    ('Night Owls - a trick game', 'Night Owls')
    >>> own_title("a game called hearts for three")
    ''
    """
    found = _QUOTED.search(words) or _NAMED.search(words) or _TOP.match(words) or _HEAD.match(words)
    return " ".join(next(filter(None, found.groups())).split()) if found else ""


def _title(parsed: ParsedBrief, match: re.Match[str] | None) -> tuple[str, list[int]]:
    """A title, and the indices of its tokens."""
    if match is None:
        return "", []
    name = next(group for group in match.groups() if group).strip()
    return name, parsed.inside(*match.span())


def _replaced(parsed: ParsedBrief, mentions: Sequence[Mention]) -> set[int]:
    """Tokens after "instead of" whose sentence sets something in their place."""
    explained: set[int] = set()
    for run in parsed.replaced:
        near = range(run[0] - 8, run[-1] + 9)
        if any(index in near for mention in mentions for index in mention.covered):
            explained |= set(run)
    return explained


def _reason(text: str, lexicon: Lexicon) -> str:
    part = parse_brief(text)
    if any(part.text.find(pattern) for pattern in common().orders):
        return "it is an order to the program, not a rule of a game; nothing was done with it"
    if any(part.text.find(pattern) for pattern in common().other_games):
        return "that game is not in the library"
    for other, name in _elsewhere(part, lexicon):
        return f"{name} belongs to {other.one}; {lexicon.one} has no such setting"
    return f"{NO_SETTING} {lexicon.one} says this"


def _elsewhere(part: ParsedBrief, lexicon: Lexicon) -> Iterator[tuple[Lexicon, str]]:
    for other in lexicons():
        if other.family == lexicon.family:
            continue
        for mention in find_mentions(part, (*other.names, *other.phrases)):
            if isinstance(mention.source, Name):
                yield other, f"{part.quote(mention.covered[0], mention.covered[-1])!r}"
            elif not mention.source.always and not mention.source.refused:
                names = mention.source.means(mention.capture)
                if names.keys() - {PLAYERS, *game_of(lexicon.family).parameters}:
                    yield other, f"the setting {', '.join(names)}"


def _assumptions(settled: Interpretation, lexicon: Lexicon, players: int) -> tuple[str, ...]:
    made = list(settled.assumptions)
    if settled.chosen.num_players is None and not settled.players:
        made.append(f"The brief does not say how many play: {players} players were assumed.")
    if settled.chosen.family is None and not any(
        c.setting.startswith("game=") for _, c in settled.clauses
    ):
        made.append(f"The brief names no game: its words point to {lexicon.one}.")
    return tuple(made)


def _theme_of(parsed: ParsedBrief) -> list[int]:
    """Tokens of a theme, such as "pirate-themed" or "about dragons"; empty where there is none."""
    for index, token in enumerate(parsed.tokens):
        if token.norm in ("theme", "themed"):
            return [max(0, index - 1), index] if index else [index]
    for pattern in common().themes:
        for capture in parsed.text.find(pattern):
            first = parsed.kept[capture.covered[0]]
            run = [parsed.kept[i] for i in capture.covered]
            words = 0
            for index in range(run[-1] + 1, min(run[-1] + 5, len(parsed.tokens))):
                token = parsed.tokens[index]
                if token.kind != "word" or (words and is_filler(token)) or token.norm == "and":
                    break
                run.append(index)
                words += 1
            if words:
                return sorted({first, *run})
    return []


def _bare_theme(parsed: ParsedBrief, mentions: Sequence[Mention], lexicon: Lexicon) -> list[int]:
    """Unknown words right before the game's name: "a medieval battleship game"."""
    known = {index for mention in mentions for index in mention.covered}
    for mention in mentions:
        if not isinstance(mention.source, Name) or mention.negated:
            continue
        run: list[int] = []
        at = mention.covered[0] - 1
        while at >= 0 and at not in known and strange(parsed, at, lexicon):
            run.insert(0, at)
            at -= 1
        if run:
            return run
    return []


def _theme_reason(parsed: ParsedBrief, theme: Sequence[int]) -> str:
    """Why a theme, or words that may be one, change no rule."""
    announced = any(parsed.tokens[i].norm in _ANNOUNCING for i in theme)
    return THEME_REASON if announced else f"no setting says this; taken for a theme, {IN_TITLE}"
