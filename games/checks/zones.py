"""State paths: reading and masking the zones that a module declares in `ZONES`."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from numpy.random import Generator

from games.checks import Finding
from games.checks.contract import failed
from games.contract import Game
from games.values import (
    Json,
    ModuleFault,
    State,
    Visibility,
    are_texts,
    as_object,
    canonical_key,
    show,
)

_MOST_PATTERNS = 200
_MOST_PLACES = 10_000  # of a state: an audit looks at each in each state


def declared_zones(
    check: str, game: Game
) -> "tuple[dict[str, Json], list[str], set[str]] | Finding":
    """Zones, paths that are open to all, and kinds of component of which none comes or goes.

    The finding of a check where a module does not declare them as it must.
    """
    zones = game.module.constant("ZONES")
    if not zones and game.info.get("learned") is True:
        told = "a learned module declares no zones: what its rules hide from whom is not known"
        return Finding(check=check, outcome="could_not_judge", evidence=told)
    if not isinstance(zones, dict):
        return failed(check, "ZONES", "ZONES must be a dict of path pattern -> declaration")
    opened, kinds = (game.info.get(name, []) for name in ("open", "conserved"))
    if not are_texts(opened):
        required = "a list of state paths that are open to all, such as ['scores', 'bids.*']"
        return failed(check, "GAME", f"open is {show(opened)}; required: {required}")
    if (named := len(zones) + len(opened)) > _MOST_PATTERNS:  # each is looked for in each state
        required = f"at most {_MOST_PATTERNS} in all: let * stand for an index or key"
        return failed(check, "ZONES", f"ZONES and open name {named} places; required: {required}")
    for pattern, times in Counter(opened).items():
        if times > 1:
            told = f"open names {show(pattern)} {times} times; required: each place once"
            return failed(check, "GAME", told)
    return zones, opened, set(kinds) if are_texts(kinds) else set()


def matches(pattern: str, path: str) -> bool:
    """True for a concrete path that fits a pattern; `*` stands for one step.

    >>> matches("hands.*", "hands.0"), matches("hands.*", "hands.0.1"), matches("deck", "deck")
    (True, False, True)
    """
    wanted, steps = pattern.split("."), path.split(".")
    return len(wanted) == len(steps) and all(
        w in ("*", s) for w, s in zip(wanted, steps, strict=True)
    )


def concrete_paths(state: State, *patterns: str) -> Iterator[str]:
    """The paths of `state` that fit a pattern, of one pattern after the other.

    Raises:
        ModuleFault: If they are too many for a check.
    """
    places = 0
    for pattern in patterns:
        for path, _ in _places(state, pattern):
            places += 1
            if places > _MOST_PLACES:
                required = f"at most {_MOST_PLACES} in all: name the list, and not what it holds"
                told = f"{pattern!r} and others name more places of a state; required: {required}"
                raise ModuleFault("bad_value", "ZONES", told)
            yield path


def _places(state: State, pattern: str) -> list[tuple[str, Json]]:
    """The paths that fit a pattern, each with its value."""
    first, *steps = pattern.split(".")
    found = [*_below(state, first)]
    for step in steps:
        found = [
            (f"{path}.{key}", item) for path, value in found for key, item in _below(value, step)
        ]
    return found


def _below(value: Json, step: str) -> Iterable[tuple[str, Json]]:
    """The children that fit one step of a pattern."""
    return _children(value) if step == "*" else _child(value, step)


def _child(value: Json, key: str) -> list[tuple[str, Json]]:
    """The child of that key, alone; none where there is none."""
    if isinstance(value, dict):
        return [(key, value[key])] if key in value else []
    if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
        return [(key, value[int(key)])]
    return []


def _children(value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((str(index), item) for index, item in enumerate(value))


def read_path(state: State, path: str) -> Json:
    """The value at a concrete path.

    Raises:
        KeyError: If the path is not in the state.
    """
    value: Json = state
    for step in path.split("."):
        found = _child(value, step)
        if not found:
            raise KeyError(path)
        value = found[0][1]
    return value


def as_pattern(state: State, path: str, seats: int) -> str:
    """The pattern to declare a place by: of a list that is not one a seat, all of it.

    >>> as_pattern({"hits": [2, 0, 1], "looked": [[], [4]]}, "hits.1", 2)
    'hits'
    >>> as_pattern({"hits": [2, 0, 1], "looked": [[], [4]]}, "looked.1", 2)
    'looked.*'
    """
    *above, last = path.split(".")
    within = read_path(state, ".".join(above)) if above else state
    steps = above if isinstance(within, list) and len(within) != seats else [*above, last]
    return ".".join("*" if step.isdecimal() else step for step in steps)


def with_path(state: State, path: str, value: Json) -> State:
    """A copy of `state` with the value at `path` replaced."""
    head, *rest = path.split(".")
    return {**state, head: _replaced(state[head], rest, value)}


def _replaced(container: Json, steps: list[str], value: Json) -> Json:
    if not steps:
        return value
    head, rest = steps[0], steps[1:]
    if isinstance(container, dict):
        return {**container, head: _replaced(container[head], rest, value)}
    if isinstance(container, list):
        index = int(head)
        item = _replaced(container[index], rest, value)
        return [*container[:index], item, *container[index + 1 :]]
    raise KeyError(head)


@dataclass(frozen=True)
class Sight:
    """A state as one seat is shown it.

    Attributes:
        shown: Path -> key of what the seat sees there: contents, a number, or that it is there.
        rest: The state without all paths of which something is said.
        hidden: Path -> key of the contents that the seat does not see, without empty zones; of an
            unordered zone the order does not count.
    """

    shown: dict[str, str]
    rest: State
    hidden: dict[str, str]


def sight_of(state: State, seen: Mapping[str, Visibility], zones: Mapping[str, Json]) -> Sight:
    """A state divided by what a seat may see of it.

    Raises:
        KeyError: With a path of `seen` that the state does not have.
    """
    rest = _without(state, [path.split(".") for path in seen])
    sight = Sight({}, as_object(rest), {})
    for path in seen:
        value, word = read_path(state, path), seen[path]
        size = len(value) if isinstance(value, list | dict) else bool(value)
        sight.shown[path] = canonical_key(
            {word: {"contents": value, "count": size, "nothing": None}[word]}
        )
        if word != "contents" and size:
            declared = zones.get(pattern_of(path, zones))
            if (
                isinstance(value, list)
                and isinstance(declared, dict)
                and not declared.get("ordered")
            ):
                value = [*sorted(map(canonical_key, value))]
            sight.hidden[path] = canonical_key(value)
    return sight


def _without(value: Json, paths: Sequence[Sequence[str]]) -> Json:
    """A value with None in the place of what lies at each path that it has."""
    if not all(paths):
        return None
    within: dict[str, list[Sequence[str]]] = {}
    for steps in paths:
        within.setdefault(steps[0], []).append(steps[1:])
    parts = {key: _without(item, within[key]) for key, item in _children(value) if key in within}
    if isinstance(value, list):
        return [parts.get(str(index), item) for index, item in enumerate(value)]
    return {**value, **parts} if isinstance(value, dict) else value


def pattern_of(path: str, zones: Iterable[str]) -> str:
    """The pattern that a concrete path fits; the path itself where none does."""
    return next((pattern for pattern in zones if matches(pattern, path)), path)


def components(value: Json) -> Iterator[str]:
    """Every component string inside a zone; None and empty strings are empty places."""
    if isinstance(value, str):
        if value:
            yield value
        return
    for _, item in _children(value):
        yield from components(item)


def exchanged_components(one: State, other: State, zones: Mapping[str, Json]) -> set[str]:
    """Keys of the components that lie elsewhere in the other state.

    In an ordered zone another place is elsewhere.

    >>> zones = {"deck": {"ordered": False}, "pile": {"ordered": True}}
    >>> one = {"deck": ["a", "b"], "pile": ["c", "d"]}
    >>> exchanged_components(one, {"deck": ["b", "a"], "pile": ["c", "d"]}, zones)
    set()
    >>> sorted(exchanged_components(one, {"deck": ["a", "e"], "pile": ["d", "c"]}, zones))
    ['"b"', '"c"', '"d"', '"e"']
    """
    return {key for lying in apart(one, other, zones) for _, _, key in lying}


def apart(
    one: State, other: State, zones: Mapping[str, Json]
) -> "tuple[Counter[tuple[str, str, str]], Counter[tuple[str, str, str]]]":
    """Components in one state alone, and in the other: path, place where ordered, key."""
    places = [_placed(state, zones) for state in (one, other)]
    return places[0] - places[1], places[1] - places[0]


def moved_components(before: State, after: State, zones: Mapping[str, Json]) -> set[str]:
    """Keys of the components that left their zone: for another one, or for the box.

    >>> zones = {"deck": {}, "hand": {}, "marks": {}}
    >>> before = {"deck": ["a", "b"], "hand": [], "marks": []}
    >>> moved_components(before, {"deck": ["b"], "hand": ["a"], "marks": ["b"]}, zones)
    {'"a"'}
    """
    here, there = (
        Counter((path, key) for path, _, key in _placed(state, zones).elements())
        for state in (before, after)
    )
    return {key for _, key in here - there}


def beside_hidden(
    zones: Mapping[str, Json],
    opened: Sequence[str],
    one: tuple[State, Sight],
    other: tuple[State, Sight],
) -> dict[str, set[str]]:
    """Hidden zones in which two states differ, each with what is seen to differ beside it.

    Nothing beside a zone where all that it holds in one state alone is seen in the other state.

    >>> zones = {"deck": {}, "row": {}}
    >>> states = {"deck": ["b"], "row": ["a"]}, {"deck": ["a"], "row": ["b"]}
    >>> sides = [(s, sight_of(s, {"deck": "count", "row": "contents"}, zones)) for s in states]
    >>> beside_hidden(zones, [], *sides)
    {'deck': set()}
    """
    sights = one[1], other[1]
    hidden, shown = (
        {pattern_of(path, (*zones, *opened)) for path in {**a, **b} if a.get(path) != b.get(path)}
        for a, b in ((sights[0].hidden, sights[1].hidden), (sights[0].shown, sights[1].shown))
    )
    placed = [
        [(p, key) for p, _, key in _placed(state, zones).elements()] for state, _ in (one, other)
    ]
    seen = [
        Counter(key for path, key in all_placed if path not in sight.hidden)
        for all_placed, sight in zip(placed, sights, strict=True)
    ]

    def is_open(zone: str) -> bool:
        left, right = (
            Counter(key for p, key in all_placed if p in sight.hidden and matches(zone, p))
            for all_placed, sight in zip(placed, sights, strict=True)
        )
        moved = left - right, right - left
        return any(moved) and moved[0] <= seen[1] - seen[0] and moved[1] <= seen[0] - seen[1]

    return {zone: set() if is_open(zone) else shown for zone in hidden}


def untold_zones(sight: Sight, zones: Mapping[str, Json], conserved: Collection[str]) -> set[str]:
    """Zones whose contents the seat cannot tell; those of the one hidden pack of a kind it can."""
    by_kind: dict[str, list[str]] = {}
    for path in sight.hidden:
        pattern = pattern_of(path, zones)
        declared = as_object(zones.get(pattern, {}))
        pack = declared.get("component") if not declared.get("ordered") else None
        by_kind.setdefault(str(pack), []).append(pattern)
    known = {kind for kind in conserved if len(by_kind.get(kind, ())) == 1}
    return {p for kind, patterns in by_kind.items() if kind not in known for p in patterns}


def _placed(state: State, zones: Mapping[str, Json]) -> Counter[tuple[str, str, str]]:
    """Numbers of components by path of the zone, place where it is ordered, and key."""
    placed: Counter[tuple[str, str, str]] = Counter()
    for pattern, declared in zones.items():
        ordered = isinstance(declared, dict) and declared.get("ordered")
        for path, value in _places(state, pattern):
            has_places = ordered or isinstance(value, dict)
            for place, item in _children(value if isinstance(value, list | dict) else [value]):
                for key in _keys(item):
                    placed[path, place if has_places else "", key] += 1
    return placed


def _keys(value: Json) -> list[str]:
    """The key of every value in a component; None and empty strings are empty places."""
    if isinstance(value, list | dict):
        return [key for _, item in _children(value) for key in _keys(item)]
    return [] if value is None or value == "" else [canonical_key(value)]


def exchange_hidden(
    state: State,
    zones: Mapping[str, Mapping[str, Json]],
    seen: Mapping[str, Visibility],
    generator: Generator,
) -> State:
    """The state with what one seat may not see dealt out anew among the zones hidden from it.

    Args:
        state: A state of play.
        zones: The module's `ZONES`; components of one kind are exchanged with each other.
        seen: What the seat may see in `state`, from `visible`.
        generator: The only source of randomness.
    """
    by_kind: dict[str, list[str]] = {}
    for path, visibility in seen.items():
        zone = read_path(state, path)
        if visibility == "contents" or not are_texts(zone):
            continue
        kind = next(
            (str(d.get("component")) for p, d in zones.items() if matches(p, path)), "unknown"
        )
        by_kind.setdefault(kind, []).append(path)
    for paths in by_kind.values():
        piles = [pile for path in paths if isinstance(pile := read_path(state, path), list)]
        pool = [item for pile in piles for item in pile]
        order = generator.permutation(len(pool))
        mixed = iter([pool[int(i)] for i in order])
        for path, pile in zip(paths, piles, strict=True):
            state = with_path(state, path, [next(mixed) for _ in pile])
    return state
