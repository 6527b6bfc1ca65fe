"""Reads a brief: which family, which settings, and what became of every word of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.composer.accounting import leftovers, whole
from agents.composer.common import (
    NOT_AVAILABLE,
    ORDER_PATTERNS,
    PLAYER_PHRASES,
    PLAYER_RANGES,
    TALK,
    UNAVAILABLE_NAMES,
)
from agents.composer.families import lexicons
from agents.composer.guard import understood
from agents.composer.hits import Hit, Prompt, find_hits, read_prompt
from agents.composer.lexicon import Lexicon, Name, Phrase
from agents.composer.settle import Base, Settled, effective, game_of, settle
from agents.composer.themes import bare_theme, theme_clause, theme_of, theme_words
from agents.protocols import Clause
from games.contract import Json
from games.library import defaults, preset

_NAMED = re.compile(
    r"\b(?:called|named|titled|entitled)\s+(?:\"([^\"]{1,60})\"|“([^”]{1,60})”|'([^']{1,60})'"
    r"|((?:[A-Z0-9][\w']*)(?:\s+(?:of|the|and|in|[A-Z0-9][\w']*)){0,5}))"
)
_NEAR = 0.75
_LINES = {"tic_tac_toe", "placement"}


@dataclass(frozen=True)
class Reading:
    """What a brief comes to.

    Attributes:
        lexicon: The family's words.
        chosen: The preset the brief names, or the family.
        num_players: How many play.
        parameters: All parameters of the family, effective.
        asked: The parameters that the brief sets itself.
        clauses: What became of every demand, in the brief's order.
        assumptions: What the words left open.
        title: The game's name, from the brief where it gives one.
    """

    lexicon: Lexicon
    chosen: str
    num_players: int
    parameters: dict[str, Json]
    asked: dict[str, Json]
    clauses: tuple[Clause, ...]
    assumptions: tuple[str, ...]
    title: str

    @property
    def named(self) -> bool:
        """Whether the brief names the game, not only what is in it."""
        return any(clause.setting.startswith("game=") for clause in self.clauses)


def family_scores(prompt: Prompt) -> dict[str, int]:
    """Evidence for each family, from the brief's words; zero where nothing points to it."""
    scores = {}
    for lexicon in lexicons():
        score = sum(weight for word, weight in lexicon.hints.items() if prompt.text.find(word))
        for hit in find_hits(prompt, (*lexicon.names, *lexicon.phrases)):
            if isinstance(hit.source, Name):
                score += 0 if hit.negated else hit.source.weight
            elif score:
                score += len(_telling(prompt, hit))
        scores[lexicon.family] = score
    return scores


def _telling(prompt: Prompt, hit: Hit) -> list[int]:
    return [i for i in prompt.content(hit.covered) if prompt.tokens[i].kind == "word"]


def find_reading(words: str) -> Reading | None:
    """The brief as a game of the family its words point to, or None where they point to none.

    Where the words point to several families almost alike, the one that leaves fewest demands
    open is taken.
    """
    scores = family_scores(read_prompt(words))
    best = max(scores.values(), default=0)
    if not best:
        return None
    near = {x.family for x in lexicons() if scores[x.family] >= _NEAR * best}
    if near & _LINES == {"tic_tac_toe"}:
        near |= _LINES
    readings = [read(words, lexicon) for lexicon in lexicons() if lexicon.family in near]
    readings = [reading for reading in readings if not _other_lines(reading, readings)]
    return min(readings, key=lambda reading: (_open(reading), -scores[reading.lexicon.family]))


def _other_lines(reading: Reading, readings: Sequence[Reading]) -> bool:
    """Whether a reading is in the wrong one of the two families of lines.

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
    small = {asked.get(name, 3) for name in ("rows", "columns", "connect")} == {3}
    plain = small and (square.parameters["misere"] is True or not stated)
    wanted = "tic_tac_toe" if plain and _open(square) <= _open(lines["placement"]) else "placement"
    return (stated or plain) and reading.lexicon.family != wanted


def _open(reading: Reading) -> int:
    return sum(clause.status == "not_honoured" for clause in reading.clauses)


def read(words: str, lexicon: Lexicon) -> Reading:
    """Read a brief as a game of one family."""
    prompt = read_prompt(words)
    title, titled = _title(prompt)
    theme = theme_of(prompt)
    masked = _without(prompt, {*titled})
    sources: tuple[Phrase | Name, ...] = (
        *lexicon.names,
        *PLAYER_RANGES,
        *PLAYER_PHRASES,
        *lexicon.phrases,
        *NOT_AVAILABLE,
    )
    found = find_hits(masked, (*sources, *TALK))
    hits = understood(prompt, found, lexicon, {*titled, *theme})
    theme = theme or bare_theme(prompt, hits, lexicon)
    chosen = _preset(hits) or lexicon.family
    spoken = [hit for hit in hits if not _is_talk(hit)]
    base = _base(lexicon, chosen, hits)
    settled = settle(prompt, lexicon, base, spoken)
    explained = {index for hit in hits for index in hit.covered} | set(titled)
    explained |= _replaced(prompt, spoken)
    if titled:
        clause = Clause(
            text=prompt.quote(titled[0], titled[-1]), status="honoured", setting=f"title={title}"
        )
        settled.clauses.append((titled[0], clause))
    theme_run = [index for index in theme if index not in explained]
    themed = bool(theme) and theme_run == theme
    if themed:
        settled.clauses.append((theme[0], theme_clause(prompt, theme)))
        explained |= set(theme)
    settled.clauses += leftovers(prompt, explained, lambda text: _reason(text, lexicon))
    num_players, parameters = effective(settled, base)
    clauses = tuple(whole(prompt, sorted(settled.clauses, key=lambda item: item[0])))
    about = theme_words(prompt, theme) if themed else ""
    return Reading(
        lexicon=lexicon,
        chosen=chosen,
        num_players=num_players,
        parameters=parameters,
        asked=dict(settled.parameters),
        clauses=clauses,
        assumptions=_assumptions(settled, lexicon, num_players),
        title=title or _plain_title(lexicon, chosen, about),
    )


def _is_talk(hit: Hit) -> bool:
    return isinstance(hit.source, Phrase) and hit.source.always == TALK[0].always


def _preset(hits: Sequence[Hit]) -> str:
    named = [h.source.preset for h in hits if isinstance(h.source, Name) and not h.negated]
    return next((name for name in named if name), "")


def _base(lexicon: Lexicon, chosen: str, hits: Sequence[Hit]) -> Base:
    """What holds before the brief sets anything: the preset's values, or the family's."""
    fixed = preset(chosen)
    own = lexicon.base if chosen == lexicon.family else fixed.parameters
    said: dict[str, Json] = {}
    for hit in hits:
        if isinstance(hit.source, Name) and not hit.negated:
            said |= hit.source.settings
    usual = lexicon.players if chosen == lexicon.family else fixed.players
    return Base(chosen, usual, {**defaults(game_of(lexicon.family)), **own, **said})


def _without(prompt: Prompt, gone: set[int]) -> Prompt:
    """The same prompt, in which some tokens state nothing."""
    from agents.composer.patterns import Text

    if not gone:
        return prompt
    kept = tuple(index for index in prompt.kept if index not in gone)
    text = Text([prompt.tokens[index] for index in kept])
    return Prompt(prompt.words, prompt.tokens, kept, text, prompt.replaced)


def _title(prompt: Prompt) -> tuple[str, list[int]]:
    match = _NAMED.search(prompt.words)
    if match is None:
        return "", []
    name = next(group for group in match.groups() if group).strip()
    inside = [
        index
        for index, token in enumerate(prompt.tokens)
        if token.start >= match.start() and token.end <= match.end()
    ]
    return name, inside


def _replaced(prompt: Prompt, hits: Sequence[Hit]) -> set[int]:
    """Tokens after "instead of" whose sentence sets something in their place."""
    explained: set[int] = set()
    for run in prompt.replaced:
        near = range(run[0] - 8, run[-1] + 9)
        if any(index in near for hit in hits for index in hit.covered):
            explained |= set(run)
    return explained


def _reason(text: str, lexicon: Lexicon) -> str:
    part = read_prompt(text)
    if any(part.text.find(pattern) for pattern in ORDER_PATTERNS):
        return "it is an order to the program, not a rule of a game; nothing was done with it"
    if any(part.text.find(pattern) for pattern in UNAVAILABLE_NAMES):
        return "that game is not in the library"
    for other, name in _elsewhere(part, lexicon):
        return f"{name} belongs to a {other.title}; a {lexicon.title} has no such setting"
    return f"no setting of a {lexicon.title} says this"


def _elsewhere(part: Prompt, lexicon: Lexicon) -> Iterator[tuple[Lexicon, str]]:
    for other in lexicons():
        if other.family == lexicon.family:
            continue
        for hit in find_hits(part, (*other.names, *other.phrases)):
            if isinstance(hit.source, Name):
                yield other, f"{part.quote(hit.covered[0], hit.covered[-1])!r}"
            elif not hit.source.always and not hit.source.refusal:
                yield other, f"the setting {', '.join(hit.source.means(hit.match))}"


def _assumptions(settled: Settled, lexicon: Lexicon, players: int) -> tuple[str, ...]:
    made = list(settled.assumptions)
    if not settled.players:
        made.append(f"The brief does not say how many play: {players} players were assumed.")
    if not any(c.setting.startswith("game=") for _, c in settled.clauses):
        made.append(f"The brief names no game: its words point to a {lexicon.title}.")
    return tuple(made)


def _plain_title(lexicon: Lexicon, chosen: str, theme: str) -> str:
    plain = lexicon.title if chosen == lexicon.family else chosen.replace("_", " ")
    words = f"{theme} {plain}".strip()
    return words[:1].upper() + words[1:]
