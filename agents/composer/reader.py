"""Reader of briefs: a brief as a game of one family, and what became of every sentence."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from agents.composer.lexicon import Lexicon, Name, common, word_list
from agents.composer.meaning.brief import CORRECTS, Parsed
from agents.composer.meaning.family import names_in
from agents.composer.meaning.seats import seats
from agents.composer.meaning.statements import Embed, statements_of
from agents.composer.meaning.suggest import (
    SAID,
    Stated,
    guesses,
    perhaps_meant,
    setting_text,
    suggestions,
)
from agents.composer.settle import CORRECTED, Settled, settle
from agents.protocols import GUESSED, UNREAD, Choices, Clause
from games.library import presets
from games.library.settings import PLAYERS, game_of, pairs_in, value_text
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
NOT_READ = f"{UNREAD}no setting was taken from it"
_MAYBE = f"{GUESSED}the words may mean something else"
_READ = re.compile(r" was read as (\w+)=")
_UNSAID = "The brief does not say how many play"
_ORDER = "it is an order to the program, not a rule of a game; nothing was done with it"
_PAIR = 2.0
_BOARD = r"(?P<rows>\d+) (?:by|x) (?P<columns>\d+)"


@dataclass(frozen=True)
class Reading:
    """The reading of a brief.

    Attributes:
        lexicon: The family's words.
        chosen: The preset the brief names, or the family.
        named: Whether the brief names a game of the family.
        num_players: How many play.
        seated: Whether the brief or a choice says how many.
        parameters: All parameters of the family, effective.
        asked: The parameters that the brief or a choice sets.
        clauses: What became of every demand, in the brief's order.
        assumptions: What the words left open, and how they were read.
        unseated: Number of players that the brief asks for and the family cannot seat; 0: none.
    """

    lexicon: Lexicon
    chosen: str
    named: bool
    num_players: int
    seated: bool
    parameters: dict[str, Json]
    asked: dict[str, Json]
    clauses: tuple[Clause, ...]
    assumptions: tuple[str, ...]
    unseated: int = 0

    @property
    def kept(self) -> list[str]:
        """The demands that it honours."""
        return [c.text for c in self.clauses if c.status == "honoured"]

    @property
    def lost(self) -> list[str]:
        """The demands that it does not honour; none that was taken back."""
        lost = (c for c in self.clauses if c.status != "honoured" and c.reason != CORRECTED)
        return [clause.text for clause in lost]


def read(
    text: str, lexicon: Lexicon, choices: Choices | None = None, embed: Embed | None = None
) -> Reading:
    """Read a brief as a game of one family; by words alone without `embed`.

    Raises:
        RoleError: If what the person chose beside it is unknown, out of bounds or impossible.
    """
    parsed, choices = Parsed.of(text), choices or Choices()
    titled = _title_run(parsed)
    names = [(name, run) for name, run in names_in(parsed, lexicon) if not {*run} <= {*titled}]
    chosen = next((name.preset for name, _ in names if name.preset), lexicon.family)
    if choices.family and choices.family in presets():
        chosen = choices.family
    pairs = list(_pairs(parsed, lexicon))
    used = {i for said in pairs for i in said.run}.union(titled, *(run for _, run in names))
    numbers = (*seats(parsed), *_boards(parsed, lexicon))
    unheard = used | parsed.denied[1] | {index + 1 for index in parsed.denials}
    counted = [said for said in numbers if unheard.isdisjoint(said.run)]
    used = used.union(*(said.run for said in counted))
    found = guesses(parsed, lexicon, used, statements_of(lexicon.family, embed))
    read_as = [_trimmed(parsed, one, used) for one in suggestions(parsed, found)]
    said = [*pairs, *counted, *read_as]
    settled = settle(parsed, lexicon, chosen, said, choices)
    players, parameters = settled.whole()
    clauses = [*_told(parsed, settled), *_names_told(parsed, names, lexicon)]
    if titled:
        heading, title = parsed.quote(titled).rstrip(" :–—-\n"), own_title(parsed.words)
        told = Clause(text=heading, status="honoured", setting=f"title={title}")
        clauses.append((titled[0], told))
    taken_back = [parsed.inside(*match.span()) for match in CORRECTS.finditer(parsed.words)]
    covered = used.union(*(one.run for one in said), *taken_back)
    taken = settled.settings.keys()
    for run in _unread(parsed, covered):
        clauses.append((run[0], _not_read(parsed, run, perhaps_meant(parsed, run, found, taken))))
    return Reading(
        lexicon=lexicon,
        chosen=chosen,
        named=any(not name.kin for name, _ in names),
        num_players=players,
        seated=PLAYERS in settled.settings,
        parameters=parameters,
        asked={name: v for name, v in settled.settings.items() if name != PLAYERS},
        clauses=tuple(clause for _, clause in sorted(clauses, key=lambda item: item[0])),
        assumptions=tuple(_assumptions(settled, names)),
        unseated=0 if PLAYERS in settled.settings else settled.unseated,
    )


def _pairs(parsed: Parsed, lexicon: Lexicon) -> Iterator[Stated]:
    """The NAME=VALUE pairs that name how many play, a setting, or none of any.

    What no setting is called, without a "_", may be anything: "the ace = 1 point".
    """
    known = {PLAYERS, *game_of(lexicon.family).parameters}
    for name, value, (start, end) in pairs_in(parsed.words):
        run = parsed.inside(start, end)
        if run and (name in known or "_" in name):
            yield Stated(run, {name: value}, _PAIR, tuple(run))


def _boards(parsed: Parsed, lexicon: Lexicon) -> Iterator[Stated]:
    """The sizes of a board: "7 by 8" is rows and columns, and no size of a square."""
    known = game_of(lexicon.family).parameters.keys()
    for match, run in parsed.found(_BOARD):
        rows, columns = int(match["rows"]), int(match["columns"])
        size = rows if rows == columns else f"{rows} by {columns}"
        sets = {"rows": rows, "columns": columns} if "rows" in known else {"size": size}
        if sets.keys() <= known:
            yield Stated(run, sets, at=tuple(run))


def _trimmed(parsed: Parsed, said: Stated, used: Container[int]) -> Stated:
    """The same, without words at its ends that say something else, or nothing."""
    run = [i for i in said.run if i not in used and parsed.content([i])] or list(said.run)
    return replace(said, run=range(run[0], run[-1] + 1))


def _told(parsed: Parsed, settled: Settled) -> Iterator[tuple[int, Clause]]:
    """The clauses of all that was said: taken, and not."""
    for said in settled.taken:
        text, setting = parsed.quote(said.run), setting_text(said.sets)
        unsure = said.sure < SAID or not parsed.doubted.isdisjoint(said.run)
        reason = _MAYBE if unsure else ""
        yield said.run[0], Clause(text=text, status="honoured", setting=setting, reason=reason)
    for said, reason in settled.lost:
        text = parsed.quote(said.run)
        yield said.run[0], Clause(text=text, status="not_honoured", reason=reason)


def _names_told(
    parsed: Parsed, names: Sequence[tuple[Name, range]], lexicon: Lexicon
) -> Iterator[tuple[int, Clause]]:
    for name, run in names:
        text, setting = parsed.quote(run), f"game={name.preset or lexicon.family}"
        if name.kin:
            reason = f"{name.kin}; the closest family, {lexicon.family}, is built"
            yield run[0], Clause(text=text, status="not_honoured", reason=reason)
        else:
            yield run[0], Clause(text=text, status="honoured", setting=setting)


def _unread(parsed: Parsed, covered: set[int]) -> Iterator[list[int]]:
    """The pieces of sentences from which nothing was taken; fillers alone say nothing."""
    empty = word_list("soft")
    for clauses in parsed.sentences():
        piece: list[int] = []
        for index in [*range(clauses[0].start, clauses[-1].stop), -1]:
            if index >= 0 and index not in covered:
                piece.append(index)
                continue
            content = parsed.content(piece)
            said = (parsed.tokens[i] for i in content)
            if any({token.norm, token.plain}.isdisjoint(empty) for token in said):
                yield list(range(content[0], content[-1] + 1))
            piece = []


def _not_read(parsed: Parsed, run: Sequence[int], perhaps: str) -> Clause:
    text = parsed.quote(run)
    reason = f"{NOT_READ}; perhaps {perhaps} was meant" if perhaps else NOT_READ
    if any(re.search(pattern, text, re.IGNORECASE) for pattern in common().orders):
        reason, perhaps = _ORDER, ""
    return Clause(text=text, status="not_honoured", reason=reason, perhaps=perhaps)


def own_title(text: str) -> str:
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
    found = _title(text)
    return " ".join(next(filter(None, found.groups())).split()) if found else ""


def _title(text: str) -> re.Match[str] | None:
    return _QUOTED.search(text) or _NAMED.search(text) or _TOP.match(text) or _HEAD.match(text)


def _title_run(parsed: Parsed) -> range:
    found = _title(parsed.words)
    if found is None:
        return range(0)
    group = next(number for number, text in enumerate(found.groups(), 1) if text)
    start = found.start() if found.re in (_NAMED, _QUOTED) else found.start(group)
    return parsed.inside(start, found.end(group))


def still_assumed(assumptions: Sequence[str], changed: Container[str]) -> tuple[str, ...]:
    """Those that are not about a setting, or the number of players, which was said since.

    >>> still_assumed(["'big' was read as rows=5; say rows=6 to change it."], {"rows"})
    ()
    """

    def about(assumption: str) -> str:
        found = _READ.search(assumption)
        return found[1] if found else PLAYERS if _UNSAID in assumption else ""

    return tuple(one for one in assumptions if about(one) not in changed)


def _assumptions(settled: Settled, names: Sequence[tuple[Name, range]]) -> Iterator[str]:
    """Sentences on what was assumed, and on how words were read, with the way to change it."""
    yield from settled.assumptions
    game = game_of(settled.lexicon.family)
    for name, said in settled.owners.items():
        value = settled.settings[name]
        if said.sure < _PAIR and name in game.parameters:
            words_said = settled.parsed.quote(said.run)
            other = next(iter(game.parameters[name].others(value)), "VALUE")
            yield (
                f"{words_said!r} was read as {name}={value_text(value)}; say "  # see _READ
                f"{name}={value_text(other)} to change it."
            )
    if PLAYERS not in settled.settings:
        players = settled.whole()[0]
        yield f"{_UNSAID}: {players} players were assumed."
    if settled.choices.family is None and not names:
        yield f"The brief names no game: its words point to {settled.lexicon.one}."
