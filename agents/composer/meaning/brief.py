"""A brief as tokens, and the parts of it that may say something."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from agents.composer.lexicon import word_list
from agents.composer.meaning.tokens import Token, stem, tokenise

_WRAPPED = re.compile(r"(?m)(?<=[^\n]{49}[^\n.!?:;])\n(?!\s*(?:$|[-*•#>–—]|\(?\w{1,2}[.)]\s))")
_ENDS = frozenset(".!?\n")
_CUTS = frozenset(",;:()–—")
_JOINTS = frozenset({"and", "but"})
_OR = frozenset({"or", "nor"})
_BACK = frozenset({"it", "that", "this", "them", "those", "these", "so"})
_LONGEST = 32
_RANKS = {stem(word): word[0].upper() for word in ("ace", "king", "queen", "jack", "knave")}
_RANKS |= {stem("knave"): "J"} | {str(n): "T" if n == 10 else str(n) for n in range(2, 11)}  # noqa: PLR2004 - ranks of a pack
_SEVERAL = 2
CORRECTS = re.compile(
    r"\b(?:no,? wait|wait,? no|make (?:that|it)|i meant?|scratch that|correction"
    r"|on second thoughts?|or rather|sorry|actually)\b"
    r"|(?:(?<=[,.;:!?–—-] )|\A)(?:(?:hm+|oh|wait),? )?no(?= ?[,.;:–—-])",
    re.IGNORECASE,
)
"""Words after which a person says something anew."""


@dataclass(frozen=True)
class Part:
    """A run of tokens, its text with one number or rank set aside, or all of them.

    Attributes:
        run: The tokens.
        text: What they say, N and RANK in the place of what is set aside.
        numbers: Set aside.
        ranks: Set aside.
        at: The tokens that were set aside.
    """

    run: range
    text: str
    numbers: tuple[int, ...] = ()
    ranks: tuple[str, ...] = ()
    at: tuple[int, ...] = ()


@dataclass(frozen=True)
class Parsed:
    """A brief as tokens.

    Attributes:
        words: The brief; a line break at a margin is a space.
        tokens: Of it.
    """

    words: str
    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, text: str) -> "Parsed":
        """Parse a brief."""
        text = _WRAPPED.sub(" ", text)
        return cls(text, tokenise(text))

    @cached_property
    def plain(self) -> tuple[str, tuple[int, ...]]:
        """Its plain words and stops, with single spaces, and where each token begins there."""
        said, starts, at = [], [], 0
        for token in self.tokens:
            starts.append(at)
            said.append(token.plain)
            at += len(token.plain) + 1
        return " ".join(said), tuple(starts)

    def found(self, pattern: str) -> Iterator[tuple[re.Match[str], range]]:
        """Where an expression over the plain words matches whole words, and the tokens there."""
        text, starts = self.plain
        for match in re.finditer(rf"(?<![\w'])(?:{pattern})(?![\w'])", text):
            run = [i for i, at in enumerate(starts) if match.start() <= at < match.end()]
            if run:
                yield match, range(run[0], run[-1] + 1)

    def inside(self, start: int, end: int) -> range:
        """The tokens that begin between two offsets of the brief."""
        run = [i for i, token in enumerate(self.tokens) if start <= token.start < end]
        return range(run[0], run[-1] + 1) if run else range(0)

    def quote(self, run: Sequence[int]) -> str:
        """The words from the first token of a run to its last."""
        return self.words[self.tokens[run[0]].start : self.tokens[run[-1]].end]

    def content(self, run: Iterable[int]) -> list[int]:
        """The tokens of a run that ask for something by themselves."""
        return [i for i in run if not self._is_filler(self.tokens[i])]

    def _is_filler(self, token: Token) -> bool:
        empty = word_list("fillers"), word_list("function")
        return token.kind == "stop" or any(token.norm in of or token.plain in of for of in empty)

    @cached_property
    def denials(self) -> frozenset[int]:
        """The tokens that deny; "no, wait" takes back, and denies nothing."""
        back = {i for match in CORRECTS.finditer(self.words) for i in self.inside(*match.span())}
        no = (i for i, token in enumerate(self.tokens) if token.plain in word_list("negators"))
        return frozenset(no) - back

    @cached_property
    def denied(self) -> tuple[set[int], set[int]]:
        """The tokens of clauses that deny, and of lists with "or" after them; and those recalled.

        A denial that says nothing by itself recalls what stands before it in its sentence, or the
        sentence before where it begins one: "but we do not", "not that".
        """
        own, recalled, before = set[int](), set[int](), list[range]()
        for clauses in self.sentences(more=";:()–—"):
            words = [{self.tokens[i].plain for i in clause} for clause in clauses]
            for number, clause in enumerate(clauses):
                if self.denials.isdisjoint(clause):
                    continue
                listed = (at for at in range(number, len(clauses)) if words[at] & _OR)
                own.update(*clauses[number : max(listed, default=number) + 1])
                if len({*self.content(clause)} - self.denials) <= bool(words[number] & _BACK):
                    recalled.update(*(clauses[:number] or before))
            before = clauses
        return own, recalled

    @cached_property
    def doubted(self) -> frozenset[int]:
        """The tokens before a clause of their sentence that denies something and points back."""
        found = set[int]()
        for clauses in self.sentences(more=";:()–—"):
            for number, clause in enumerate(clauses):
                points_back = not _BACK.isdisjoint(self.tokens[i].plain for i in clause)
                if points_back and not self.denials.isdisjoint(clause):
                    found.update(*clauses[:number])
        return frozenset(found)

    def sentences(self, used: Container[int] = (), more: str = "") -> list[list[range]]:
        """The sentences, each as its clauses; what is used for something else ends one too.

        `more` are further stops that end a sentence.
        """
        found: list[list[range]] = [[]]
        begun = 0
        for index, token in enumerate((*self.tokens, None)):
            ended = token is None or (token.kind == "stop" and token.norm in {*_ENDS, *more})
            if ended or index in used or (token is not None and token.norm in _CUTS | _JOINTS):
                found[-1] += [range(begun, index)] if begun < index else []
                begun = index + 1
            if ended:
                found.append([])
        return [clauses for clauses in found if clauses]

    def runs(self, used: Container[int]) -> Iterator[range]:
        """Clauses, neighbours of one sentence, and whole sentences."""
        for clauses in self.sentences(used):
            spans = [(one, other) for one in range(len(clauses)) for other in (one, one + 1)]
            for one, other in dict.fromkeys([*spans, (0, len(clauses) - 1)]):
                if other < len(clauses):
                    yield range(clauses[one].start, clauses[other].stop)

    def parts(self, used: Container[int]) -> Iterator[Part]:
        """The runs, once for each number and card rank that they may be about."""
        for run in self.runs(used):
            free = [i for i in run if i not in used]
            if len(run) > _LONGEST or not self.content(free):
                continue
            numbers = {i: "N" for i in free if self.tokens[i].kind == "number"}
            ranks = {i: "RANK" for i in free if self.tokens[i].norm in _RANKS}
            if not numbers:
                yield Part(run, self.quote(run))
            yield from (self._aside(run, {i: "N"}) for i in numbers)
            yield from (self._aside(run, {i: "RANK"}) for i in [*ranks][:_SEVERAL])
            if max(len(numbers), len(ranks)) >= _SEVERAL:
                yield self._aside(run, {**ranks, **numbers})

    def _aside(self, run: range, set_aside: dict[int, str]) -> Part:
        reached, text = self.tokens[run[0]].start, ""
        for index, word in sorted(set_aside.items()):
            text += self.words[reached : self.tokens[index].start] + word
            reached = self.tokens[index].end
        text += self.words[reached : self.tokens[run[-1]].end]
        at = sorted(set_aside)
        several = len(at) > 1
        norms = [self.tokens[i].norm for i in at if several or set_aside[i] == "N"]
        numbers = [int(norm) for norm in norms if norm.lstrip("-").isdigit()]
        norms = [self.tokens[i].norm for i in at if several or set_aside[i] == "RANK"]
        ranks = [_RANKS[norm] for norm in norms if norm in _RANKS]
        return Part(run, text, tuple(numbers), tuple(ranks), tuple(at))
