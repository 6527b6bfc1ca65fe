"""Loader of the library's `words.yaml`: a bad entry is named by file and line.

The words of every game stand in `games/library/words.yaml`, those of a family in its folder:
`title`, `players` (the usual number), `about` (what such a game is, in prose), `says` (setting,
value, and what people say who mean it; N stands for a number), `together` (setting, a value that is
several at once, and these), `names` of games, `hints` (words
with their weight as evidence), `phrases`, and where needed `macros`, `base` (settings where no
preset is named) and `derived` (names of settings that only `words.py` knows). An entry of `phrases`
has `say` (a list of phrases) and one meaning: `sets` (parameters, or `num_players`, with values as
in `agents.composer.lexicon.HOLES`), `reads` (a function of `words.py` over the captured numbers),
`always` (so anyway, but with the settings of `unless`), or `refused` (why not). `denied` is what a
negation sets, `own_negation` says that the phrase has its own, `assumes` what is taken for
granted. `use` takes a group of the common words, with `sets` where the group leaves them open;
`alike` puts one setting for those of the group that come to one value.

Where words need arithmetic, the family's `words.py` has it: `in_context`, `usual` and `vain` (see
`agents.composer.lexicon.Lexicon`), and the functions that `reads` names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import Any, TypeAlias

import yaml

from agents.composer.lexicon import HOLES, PLAYERS, Common, Lexicon, Name, Phrase, game_of
from agents.composer.patterns import expand
from agents.composer.tokens import stems, word_set
from games import library
from games.values import Json

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ROOM = "games/library"
_OWN = ("sets", "reads", "always", "refused")
_HOOKS = ("in_context", "usual", "vain")
_ENTRY = ("use", "say", "denied", "assumes", "own_negation", "alike", "unless", *_OWN)
_NAME = ("phrase", "preset", "kin", "weight", "sets")
_HEAD = ("title", "players", "about", "names", "phrases")
_LEXICON = (*_HEAD, "says", "together", "base", "derived", "macros", "hints")
_WORDS = ("fillers", "soft", "negators", "removers", "conditions", "connectives")
_PHRASES = ("player_counts", "player_ranges", "refusals", "talk")
_PATTERNS = ("replaced", "themes", "orders", "no_game", "other_games")

Groups: TypeAlias = Mapping[str, tuple[Phrase, ...]]


class WordsError(ValueError):
    """A bad entry of a `words.yaml`; the message begins with its file and line."""


class _Page:
    """One file, read node by node, so that a bad entry is named by its line.

    Attributes:
        name: The file, from the top of the tree.
        macros: Those that its phrases may use.
        named: Settings that it names, each with its place ("file:line").
        root: The file's mapping.
    """

    def __init__(self, name: str, text: str, macros: Mapping[str, str]) -> None:
        self.name = name
        self.macros = dict(macros)
        self.named: dict[str, str] = {}
        try:
            self.root: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise WordsError(f"{name}:{line}: not YAML: {error.problem}; mend it") from error

    def place(self, node: yaml.Node | None) -> str:
        return f"{self.name}:{node.start_mark.line + 1 if node else 1}"

    def bad(self, node: yaml.Node | None, problem: str) -> WordsError:
        return WordsError(f"{self.place(node)}: {problem}")

    def table(
        self, node: yaml.Node | None, known: Sequence[str] = (), required: Sequence[str] = ()
    ) -> dict[str, yaml.Node]:
        """A mapping by its keys, each of them once and, where some are known, one of these."""
        if not isinstance(node, yaml.MappingNode):
            raise self.bad(node, "not a mapping; required: keys with values")
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = self.text(key)
            if name in found:
                raise self.bad(key, f"{name!r} stands here twice; leave one out")
            if known and name not in known:
                raise self.bad(key, f"the unknown key {name!r}; known: {', '.join(known)}")
            found[name] = value
        missing = [name for name in required if name not in found]
        if missing:
            raise self.bad(node, f"lacks {', '.join(missing)}")
        return found

    def items(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            raise self.bad(node, "not a list; required: one '- ...' an item")
        return list(node.value)

    def text(self, node: yaml.Node) -> str:
        """A scalar as it is written, whatever YAML would make of it."""
        if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
            raise self.bad(node, "no text; required: some words")
        return str(node.value)

    def value(self, node: yaml.Node, *kinds: type) -> Any:  # noqa: ANN401 - of these kinds
        """A scalar as YAML reads it, of one of these kinds."""
        found = None
        if isinstance(node, yaml.ScalarNode):
            found = yaml.constructor.SafeConstructor().construct_object(node)
        if type(found) not in kinds:
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise self.bad(node, f"{node.value!r} is of the wrong type; required: {wanted}")
        return found

    def settings(self, node: yaml.Node) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for name, value in self.table(node).items():
            found[name] = self.value(value, str, int, bool)
            self.named.setdefault(name, self.place(value))
            if isinstance(found[name], str):
                self._check_holes(value, str(found[name]))
        return found

    def _check_holes(self, node: yaml.Node, value: str) -> None:
        rest = value
        for hole in HOLES:
            rest = rest.replace(hole, "")
        if "<" in rest:
            raise self.bad(node, f"the unknown value {value!r}; known: {', '.join(sorted(HOLES))}")

    def pattern(self, node: yaml.Node, text: str = "") -> str:
        """A phrase with its macros written out."""
        try:
            return expand(text or self.text(node), self.macros)
        except ValueError as error:
            raise self.bad(node, f"a bad phrase: it has {error}") from error

    def patterns(self, node: yaml.Node) -> tuple[str, ...]:
        return tuple(self.pattern(item) for item in self.items(node))

    def define(self, node: yaml.Node) -> None:
        """Add macros; none may stand twice."""
        table = self.table(node)
        for name, value in table.items():
            if name in self.macros:
                raise self.bad(value, f"the macro {name!r} stands in the common words; rename it")
            self.macros[name] = self.text(value)
        for value in table.values():
            self.pattern(value)


def _said(page: _Page, node: yaml.Node, hooks: ModuleType | None, *, bound: bool) -> list[Phrase]:
    """The phrases of one entry, all with one meaning; unbound ones get theirs where they are used.

    Raises:
        WordsError: If a key is unknown, twice there or lacking, or a value is of the wrong type.
    """
    fields = page.table(node, _ENTRY, ("say",))
    meanings = [name for name in _OWN if name in fields]
    if len(meanings) > 1 or (bound and not meanings) or "alike" in fields:
        raise page.bad(node, f"has {meanings or 'no meaning'}; required: one of {', '.join(_OWN)}")
    texts = {
        key: page.text(fields[key]) for key in ("always", "refused", "assumes") if key in fields
    }
    phrase = Phrase(
        "",
        sets=page.settings(fields["sets"]) if "sets" in fields else {},
        denied=page.settings(fields["denied"]) if "denied" in fields else None,
        own_negation="own_negation" in fields and page.value(fields["own_negation"], bool),
        reads=_function(page, fields["reads"], hooks) if "reads" in fields else None,
        unless=page.settings(fields["unless"]) if "unless" in fields else {},
        **texts,
    )
    return [replace(phrase, pattern=page.pattern(item)) for item in page.items(fields["say"])]


def _function(page: _Page, node: yaml.Node, hooks: ModuleType | None) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(hooks, page.text(node), None)
    if not callable(found):
        raise page.bad(node, f"the unknown function {node.value!r}; required: one of its words.py")
    return found


def _used(page: _Page, node: yaml.Node, groups: Groups) -> list[Phrase]:
    """The phrases of a group, with the meaning that this entry gives them."""
    fields = page.table(node, ("use", "sets", "alike"))
    name = page.text(fields["use"])
    if name not in groups:
        known = ", ".join(sorted(groups))
        raise page.bad(fields["use"], f"the unknown group {name!r}; known: {known}")
    unbound = not (groups[name][0].sets or groups[name][0].always)
    if unbound != ("sets" in fields):
        problem = "needs 'sets'" if unbound else "has settings of its own; leave 'sets' out"
        raise page.bad(node, f"the group {name!r} {problem}")
    if unbound:
        sets = page.settings(fields["sets"])
        return [replace(phrase, sets=sets) for phrase in groups[name]]
    if "alike" in fields:
        alike = page.text(fields["alike"])
        page.named.setdefault(alike, page.place(node))
        return [replace(phrase, alike=alike, assumes="") for phrase in groups[name]]
    for phrase in groups[name]:
        for setting in (*phrase.sets, *(phrase.denied or ())):
            page.named.setdefault(setting, page.place(node))
    return list(groups[name])


def _phrases(
    page: _Page, node: yaml.Node, groups: Groups | None = None, hooks: ModuleType | None = None
) -> tuple[Phrase, ...]:
    """The phrases of a list of entries, in order; no phrase stands in it twice."""
    found: list[Phrase] = []
    own: set[str] = set()
    for entry in page.items(node):
        fields = page.table(entry, _ENTRY)
        if "use" in fields:
            found += _used(page, entry, groups or {})
            continue
        phrases = _said(page, entry, hooks, bound=True)
        for item, phrase in zip(page.items(fields["say"]), phrases, strict=True):
            if phrase.pattern in own:
                raise page.bad(item, f"the phrase {phrase.pattern!r} stands here twice")
            own.add(phrase.pattern)
        found += phrases
    return tuple(found)


@cache
def _shared() -> tuple[Common, Groups, Mapping[str, str]]:
    """The words of every game, the groups of phrases, and the macros."""
    text = (files("games.library") / "words.yaml").read_text(encoding="utf-8")
    return read_common(f"{_ROOM}/words.yaml", text)


def read_common(name: str, text: str) -> tuple[Common, Groups, Mapping[str, str]]:
    """Read the words of every game.

    Args:
        name: The file, for messages.
        text: Its content.

    Raises:
        WordsError: Naming file and line of a bad entry.
    """
    page = _Page(name, text, {})
    keys = ("words", "macros", "groups", "says", "beings", "parts", "kinds", *_PHRASES, *_PATTERNS)
    fields = page.table(page.root, keys, keys)
    page.define(fields["macros"])
    words = page.table(fields["words"], _WORDS, _WORDS)
    found: dict[str, Any] = {name: stems(page.text(words[name])) for name in _WORDS}
    found["fillers"] |= word_set(page.text(words["fillers"]))
    found |= {name: _phrases(page, fields[name]) for name in _PHRASES}
    found["kin"] = stems(page.macros["kin"].strip("()").replace("|", " "))
    found |= {name: page.patterns(fields[name]) for name in _PATTERNS}
    found["says"] = _says(page, fields["says"])
    found |= {name: tuple(page.text(fields[name]).split()) for name in ("beings", "parts")}
    kinds = page.table(fields["kinds"])
    found["kinds"] = {name: page.text(node) for name, node in kinds.items()}
    groups = {
        name: tuple(
            phrase for item in page.items(node) for phrase in _said(page, item, None, bound=False)
        )
        for name, node in page.table(fields["groups"]).items()
    }
    return Common(**found), groups, page.macros


def common() -> Common:
    """The words of every game.

    Raises:
        WordsError: Naming file and line of a bad entry.
    """
    return _shared()[0]


@cache
def lexicons() -> tuple[Lexicon, ...]:
    """The lexicons, in the order of the library's families.

    Raises:
        WordsError: Naming file and line of a bad entry.
    """
    return tuple(lexicon_of(family) for family in library.families())


@cache
def lexicon_of(family: str) -> Lexicon:
    """The words of one family.

    Raises:
        WordsError: If they cannot be read.
    """
    folder = files("games.library") / family
    hooks = None
    if (folder / "words.py").is_file():
        hooks = import_module(f"games.library.{family}.words")
    text = (folder / "words.yaml").read_text(encoding="utf-8")
    return read_lexicon(family, f"{_ROOM}/{family}/words.yaml", text, hooks)


def read_lexicon(family: str, name: str, text: str, hooks: ModuleType | None = None) -> Lexicon:
    """Read one family's words.

    Args:
        family: The library family.
        name: The file, for messages.
        text: Its content.
        hooks: The family's `words.py`.

    Raises:
        WordsError: Naming file and line of a bad entry.
    """
    _, groups, macros = _shared()
    page = _Page(name, text, macros)
    fields = page.table(page.root, _LEXICON, _HEAD)
    if "macros" in fields:
        page.define(fields["macros"])
    derived = page.items(fields["derived"]) if "derived" in fields else []
    known = {page.text(item) for item in derived}
    hints = page.table(fields["hints"]) if "hints" in fields else {}
    given = {hook: getattr(hooks, hook) for hook in _HOOKS if hasattr(hooks, hook)}
    return Lexicon(
        family=family,
        title=page.text(fields["title"]),
        players=page.value(fields["players"], int),
        about=tuple(page.text(item) for item in page.items(fields["about"])),
        says=_says(page, fields["says"]) if "says" in fields else {},
        together=_says(page, fields["together"]) if "together" in fields else {},
        names=tuple(_names(page, fields["names"], family)),
        hints={page.pattern(node, word): page.value(node, int) for word, node in hints.items()},
        phrases=_phrases(page, fields["phrases"], groups, hooks),
        base=page.settings(fields["base"]) if "base" in fields else {},
        places={setting: at for setting, at in page.named.items() if setting not in known},
        **given,
    )


def _says(page: _Page, node: yaml.Node) -> dict[str, dict[str, tuple[str, ...]]]:
    """Statements of settings: setting, value as it is written, texts."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, values in page.table(node).items():
        page.named.setdefault(name, page.place(values))
        found[name] = {
            value: tuple(page.text(item) for item in page.items(texts))
            for value, texts in page.table(values).items()
        }
    return found


def _names(page: _Page, node: yaml.Node, family: str) -> Iterator[Name]:
    for entry in page.items(node):
        fields = page.table(entry, _NAME, ("phrase",))
        preset = page.text(fields["preset"]) if "preset" in fields else ""
        if preset and (preset not in library.presets() or library.preset(preset).family != family):
            raise page.bad(fields["preset"], f"{family} has no preset {preset!r}")
        yield Name(
            page.pattern(fields["phrase"]),
            preset=preset,
            kin=page.text(fields["kin"]) if "kin" in fields else "",
            weight=page.value(fields["weight"], int) if "weight" in fields else Name.weight,
            sets=page.settings(fields["sets"]) if "sets" in fields else {},
        )


def check_settings(lexicon: Lexicon) -> None:
    """Refuse words for a setting that the family's game does not have.

    Raises:
        WordsError: Naming file and line of the entry.
    """
    known = game_of(lexicon.family).parameters
    for setting, place in lexicon.places.items():
        if setting != PLAYERS and setting not in known:
            raise WordsError(
                f"{place}: {lexicon.family} has no parameter {setting!r}; it has {', '.join(known)}"
            )
