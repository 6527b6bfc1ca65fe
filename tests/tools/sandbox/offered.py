"""Operations that a test preloads."""

from collections.abc import Callable
from typing import cast

from games.values import Json


def pile_after(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    start = cast("Callable[..., Json]", namespace["initial_state"])(2)
    after = cast("Callable[..., dict[str, Json]]", namespace["apply_action"])
    return after(start, payload["action"])["pile"]


def fail(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    raise LookupError("no such thing")


def run(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    return cast("Callable[[], Json]", namespace[cast("str", payload["target"])])()


def odd(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    return cast("Json", (1, 2))


OPERATIONS = {"pile_after": pile_after, "fail": fail, "run": run, "odd": odd}
