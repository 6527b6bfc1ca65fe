"""Which phrases of the lexicons stand in a brief, and under which negation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agents.composer.common import (
    CONDITIONS,
    CONNECTIVES,
    FILLERS,
    INSTEAD,
    NEGATORS,
    REMOVERS,
)
from agents.composer.lexicon import Name, Phrase
from agents.composer.patterns import Match, Text
from agents.composer.quantities import merge_numbers
from agents.composer.words import FUNCTION_WORDS, Token, stem, tokenise, word_set

_REACH = 3
_SHORT = 8
_TWO = 2
_CONDITION = 14
_DENIALS = frozenset({"not", "never"})
_LOOSE = FUNCTION_WORDS | CONNECTIVES | {"for"}
_UNITS = frozenset(
    map(
        stem,
        word_set(
            "point trick second minute hour coin chip euro dollar row column square cell ship shot"
            " roll throw raise round deal percent time step move turn token"
        ),
    )
)
_DROP = stem("drop")
_COUNTED = frozenset(map(stem, word_set("player person child friend side opponent team man")))
_FALLING = frozenset(
    map(stem, word_set("token piece disc disk stone mark checker chip coin ball marker"))
)
_SUBORDINATE = frozenset(map(stem, word_set("who whoever anyone someone if when whenever once")))
_AFTER = word_set("as is are be been being was were do does did must may can should will")


@dataclass(frozen=True)
class Hit:
    """One phrase found in the brief.

    Attributes:
        covered: Indices of the brief's tokens that it explains, in order.
        match: What it captured.
        source: The phrase or the name that was found.
        negated: Whether the brief denies it.
    """

    covered: tuple[int, ...]
    match: Match
    source: Phrase | Name
    negated: bool = False


@dataclass(frozen=True)
class Prompt:
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

    def content(self, indices: Iterable[int]) -> list[int]:
        """Those tokens that are neither stops nor fillers."""
        return [i for i in indices if not is_filler(self.tokens[i])]


def is_filler(token: Token) -> bool:
    """Whether a token asks for nothing by itself."""
    if token.kind == "stop":
        return True
    return token.kind == "word" and (token.norm in FUNCTION_WORDS or token.norm in FILLERS)


def read_prompt(words: str) -> Prompt:
    """Tokenise a brief; set aside what is only replaced, and commas after a condition."""
    tokens = merge_numbers(tokenise(words))
    whole = Text(tokens)
    replaced = []
    for pattern in INSTEAD:
        for match in whole.find(pattern):
            end = match.covered[-1] + 1
            while end < len(tokens) and end - match.covered[-1] <= _SHORT:
                norm = tokens[end].norm
                late = end > match.covered[-1] + 1
                if tokens[end].kind == "stop" or norm in CONNECTIVES or (late and norm in _AFTER):
                    break
                end += 1
            replaced.append(tuple(range(match.covered[0], end)))
    gone = {index for run in replaced for index in run} | _joints(tokens)
    kept = tuple(index for index in range(len(tokens)) if index not in gone)
    return Prompt(words, tokens, kept, Text([tokens[i] for i in kept]), tuple(replaced))


def _joints(tokens: Sequence[Token]) -> set[int]:
    """Stops that part nothing: "if you hit, you fire again", "a carrier (5)"."""
    found: set[int] = set()
    for index in range(len(tokens) - 2):
        opened, inside, closed = tokens[index : index + 3]
        if opened.norm == "(" and inside.kind == "number" and closed.norm == ")":
            found |= {index, index + 2}
    for index, token in enumerate(tokens):
        opens = index == 0 or tokens[index - 1].kind == "stop"
        opens = opens or tokens[index - 1].norm in CONNECTIVES
        if token.norm not in CONDITIONS or not opens:
            continue
        rest = range(index + 1, min(index + _CONDITION, len(tokens)))
        stop = next((i for i in rest if tokens[i].kind == "stop"), None)
        if stop is not None and tokens[stop].norm == ",":
            found.add(stop)
    return found


def find_hits(prompt: Prompt, sources: Sequence[Phrase | Name]) -> list[Hit]:
    """The phrases that stand in the brief; where two overlap, the one explaining more is kept."""
    denied = [i for i in prompt.kept if prompt.tokens[i].norm in _DENIALS]
    bare = tuple(i for i in prompt.kept if i not in denied)
    bare_text = Text([prompt.tokens[i] for i in bare]) if denied else prompt.text
    candidates = []
    for order, source in enumerate(sources):
        places = [(prompt.kept, match) for match in prompt.text.find(source.pattern)]
        if denied and isinstance(source, Phrase) and not source.free:
            places += [(bare, match) for match in bare_text.find(source.pattern)]
        for kept, match in places:
            covered = _counted_apart(prompt, [kept[index] for index in match.covered])
            if covered and not _of_a_unit(prompt, covered):
                candidates.append((order, Hit(covered, match, source)))
    candidates.sort(
        key=lambda item: (
            -len(prompt.content(item[1].covered)),
            _spread(item[1]),
            isinstance(item[1].source, Phrase),
            -len(item[1].match.covered),
            item[0],
        )
    )
    taken: set[int] = set()
    hits = []
    for _, hit in candidates:
        content = set(prompt.content(hit.covered)) or set(hit.covered)
        if content & taken:
            continue
        taken |= content
        hits.append(hit)
    hits.sort(key=lambda hit: hit.covered)
    return negations(prompt, hits)


def _counted_apart(prompt: Prompt, covered: list[int]) -> tuple[int, ...]:
    """The phrase without a player whom a number counts: "four | players get eight cards"."""
    whole = _trimmed(prompt, covered)
    if len(whole) < _TWO or not whole[0] or prompt.tokens[whole[0]].norm not in _COUNTED:
        return whole
    if prompt.tokens[whole[0] - 1].kind != "number":
        return whole
    return _trimmed(prompt, list(whole[1:]))


def _of_a_unit(prompt: Prompt, covered: Sequence[int]) -> bool:
    """Whether a phrase ends in a number that counts something else: "hands with six | points"."""
    last, after = covered[-1], covered[-1] + 1
    if after >= len(prompt.tokens) or prompt.tokens[last].kind != "number":
        return False
    return prompt.tokens[after].norm in _UNITS


def _trimmed(prompt: Prompt, covered: list[int]) -> tuple[int, ...]:
    """Without the function words and stops at either end, unless there is nothing else."""

    def loose(index: int) -> bool:
        token = prompt.tokens[index]
        return token.kind == "stop" or token.norm in _LOOSE

    inner = [i for i in covered if not loose(i)]
    return tuple(i for i in covered if not inner or inner[0] <= i <= inner[-1])


def _spread(hit: Hit) -> int:
    return hit.covered[-1] - hit.covered[0] + 1 - len(hit.covered)


def negations(prompt: Prompt, hits: Sequence[Hit]) -> list[Hit]:
    """Give every hit the negation that stands before or inside it, and has no other use."""
    owned = {index for hit in hits for index in hit.covered}
    result = []
    for hit in hits:
        own_sense = isinstance(hit.source, Phrase) and hit.source.free
        supposed = [
            i
            for i in range(hit.covered[0] + 1, hit.covered[-1])
            if prompt.tokens[i].norm in NEGATORS
            and i not in owned
            and _supposed(prompt, i, hit.covered[0])
        ]
        if supposed:
            hit = replace(hit, covered=tuple(sorted({*hit.covered, *supposed})))  # noqa: PLW2901
        found = None if own_sense else _negator(prompt, hit, owned)
        if found is None:
            result.append(hit)
            continue
        owned.add(found)
        result.append(
            replace(hit, covered=tuple(sorted({*hit.covered, found})), negated=not hit.negated)
        )
    return result


def _negator(prompt: Prompt, hit: Hit, owned: set[int]) -> int | None:
    first, last = hit.covered[0], hit.covered[-1]
    reach = 1 if isinstance(hit.source, Name) else _REACH
    before = []
    for index in range(first - 1, -1, -1):
        token = prompt.tokens[index]
        if token.kind == "stop" or token.norm in CONNECTIVES or index in owned:
            if is_filler(token) and token.kind != "stop" and token.norm not in CONNECTIVES:
                continue
            if token.norm == "without" and index not in owned:
                before.append(index)
            break
        before.append(index)
        if len([i for i in before if not is_filler(prompt.tokens[i])]) >= reach:
            break
    inside = [index for index in range(first, last) if index not in owned]
    described = isinstance(hit.source, Phrase) and hit.source.always
    end = min(last + _REACH, len(prompt.tokens)) if described else last + 1
    after = list(range(last + 1, end))
    for index in (*before, *inside, *after):
        if prompt.tokens[index].norm not in NEGATORS | REMOVERS or index in owned:
            continue
        if index < first and _of_another(prompt, index, first):
            continue
        if index in inside and _supposed(prompt, index, first):
            continue
        return index
    return None


def _supposed(prompt: Prompt, negator: int, first: int) -> bool:
    """Whether a negation inside a phrase only supposes: "must trump if you cannot follow"."""
    before = range(max(first + 1, negator - 3), negator)
    return any(prompt.tokens[i].norm in _SUBORDINATE for i in before)


def _of_another(prompt: Prompt, negator: int, first: int) -> bool:
    """Whether a negation denies a verb of its own before the phrase: "who cannot go draws".

    Also true of "drop" where it lets a piece fall and removes nothing.
    """
    between = [prompt.tokens[i] for i in range(negator + 1, first)]
    if prompt.tokens[negator].norm == _DROP:
        return any(token.norm in _FALLING for token in (*between, prompt.tokens[first]))
    if all(is_filler(token) for token in between):
        return False
    for index in range(negator - 1, max(-1, negator - 4), -1):
        token = prompt.tokens[index]
        if token.kind == "stop":
            return False
        if token.norm in _SUBORDINATE:
            return True
    return False
