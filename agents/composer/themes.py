"""Themes: what the brief says a game is about, which changes no rule and reaches the title."""

from collections.abc import Sequence

from agents.composer.accounting import IN_TITLE, THEME_REASON
from agents.composer.common import THEME_PATTERNS
from agents.composer.guard import strange
from agents.composer.hits import Hit, Prompt, is_filler
from agents.composer.lexicon import Lexicon, Name
from agents.composer.words import stem, word_set
from agents.protocols import Clause

_ANNOUNCING = frozenset(
    map(
        stem,
        word_set(
            "theme themed about around regarding concerning involving featuring set setting story"
            " world universe inspired"
        ),
    )
)


def theme_of(prompt: Prompt) -> list[int]:
    """Tokens of a theme, such as "pirate-themed" or "about dragons"; empty where there is none."""
    for index, token in enumerate(prompt.tokens):
        if token.norm in ("theme", "themed"):
            return [max(0, index - 1), index] if index else [index]
    for pattern in THEME_PATTERNS:
        for match in prompt.text.find(pattern):
            first = prompt.kept[match.covered[0]]
            run = [prompt.kept[i] for i in match.covered]
            words = 0
            for index in range(run[-1] + 1, min(run[-1] + 5, len(prompt.tokens))):
                token = prompt.tokens[index]
                if token.kind != "word" or (words and is_filler(token)) or token.norm == "and":
                    break
                run.append(index)
                words += 1
            if words:
                return sorted({first, *run})
    return []


def bare_theme(prompt: Prompt, hits: Sequence[Hit], lexicon: Lexicon) -> list[int]:
    """Unknown words right before the game's name: "a medieval battleship game"."""
    known = {index for hit in hits for index in hit.covered}
    for hit in hits:
        if not isinstance(hit.source, Name) or hit.negated:
            continue
        run: list[int] = []
        at = hit.covered[0] - 1
        while at >= 0 and at not in known and strange(prompt, at, lexicon):
            run.insert(0, at)
            at -= 1
        if run:
            return run
    return []


def theme_words(prompt: Prompt, theme: Sequence[int]) -> str:
    """The theme itself, without the word that announces it."""
    tokens = [prompt.tokens[i] for i in theme if not is_filler(prompt.tokens[i])]
    return " ".join([t.text for t in tokens if t.norm not in _ANNOUNCING][-2:])


def theme_clause(prompt: Prompt, theme: Sequence[int]) -> Clause:
    """What becomes of a theme, or of words that may be one: they change no rule."""
    announced = any(prompt.tokens[i].norm in _ANNOUNCING for i in theme)
    reason = THEME_REASON if announced else f"no setting says this; taken for a theme, {IN_TITLE}"
    return Clause(text=prompt.quote(theme[0], theme[-1]), status="not_honoured", reason=reason)
