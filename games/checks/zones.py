"""State paths: reading and masking the zones that a module declares in `ZONES`."""

from collections.abc import Iterator, Mapping
from typing import cast

from games.contract import Json, State, Visibility


def matches(pattern: str, path: str) -> bool:
    """Whether a concrete path fits a pattern, where `*` stands for one step.

    >>> matches("hands.*", "hands.0"), matches("hands.*", "hands.0.1"), matches("deck", "deck")
    (True, False, True)
    """
    wanted, steps = pattern.split("."), path.split(".")
    return len(wanted) == len(steps) and all(
        w in ("*", s) for w, s in zip(wanted, steps, strict=True)
    )


def concrete_paths(state: State, pattern: str) -> Iterator[str]:
    """The paths of `state` that fit `pattern`."""
    yield from _walk(state, pattern.split("."), ())


def _walk(value: Json, steps: list[str], done: tuple[str, ...]) -> Iterator[str]:
    if not steps:
        yield ".".join(done)
        return
    head, rest = steps[0], steps[1:]
    for key, item in _children(value):
        if head in ("*", key):
            yield from _walk(item, rest, (*done, key))


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
        children = dict(_children(value))
        if step not in children:
            raise KeyError(path)
        value = children[step]
    return value


def with_path(state: State, path: str, value: Json) -> State:
    """A copy of `state` with the value at `path` replaced."""
    return cast("State", _replaced(state, path.split("."), value))


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


def masked(state: State, seen: Mapping[str, Visibility]) -> State:
    """`state` with hidden zones replaced by their size ('count') or by None ('nothing')."""
    for path, visibility in seen.items():
        if visibility == "contents":
            continue
        zone = read_path(state, path)
        size = len(zone) if isinstance(zone, list | str | dict) else None
        state = with_path(state, path, size if visibility == "count" else None)
    return state


def components(value: Json) -> Iterator[str]:
    """Every component string inside a zone; None and empty strings are empty places."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from components(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from components(item)
