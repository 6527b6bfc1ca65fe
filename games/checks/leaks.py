"""Check: nobody sees what the rules hide (the leak audit).

Two states that differ only where `visible` hides contents from a seat must look the same to that
seat: the same observation and, when it is to move, the same legal actions. And two outcomes that
leave such a pair behind must be told to that seat in the same words.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from games.checks.contract import failed, judged
from games.checks.findings import Finding
from games.checks.sampling import Sample, Subject
from games.checks.zones import concrete_paths, masked, matches, read_path, with_path
from games.contract import Json, ModuleFault, State, Visibility, canonical_key
from games.streams import stream

CHECK = "leak_audit"
_OUTCOMES_COMPARED = 8


def check_leaks(subject: Subject, samples: Sequence[Sample], *, seed: int) -> list[Finding]:
    """Audit every seat on every sample; see the module's docstring."""
    return judged(CHECK, lambda: _audit(subject, samples, seed))


def _audit(subject: Subject, samples: Sequence[Sample], seed: int) -> Iterator[Finding]:
    for index, sample in enumerate(samples):
        for seat in range(subject.num_players):
            seen = subject.game.visible(sample.state, seat)
            problem = _undeclared(subject, sample, seen) or _unreadable(sample, seen)
            if problem:
                yield failed(CHECK, "visible", problem)
                return
            generator = stream(seed, "leak audit", match=index, seat=seat)
            found = list(_shuffled_looks_same(subject, sample, seat, seen, generator))
            found = found or list(_events_tell_nothing(subject, sample, seat))
            if found:
                yield from found
                return


def _undeclared(subject: Subject, sample: Sample, seen: Mapping[str, Visibility]) -> str | None:
    zones = subject.game.module.constant("ZONES")
    if not isinstance(zones, dict):
        return "ZONES must be a dict of path pattern -> declaration"
    for pattern in zones:
        for path in concrete_paths(sample.state, pattern):
            if path not in seen:
                return f"says nothing of the zone {path} at {sample.place}"
    return None


def _unreadable(sample: Sample, seen: Mapping[str, Visibility]) -> str | None:
    for path in seen:
        try:
            read_path(sample.state, path)
        except KeyError:
            return f"names {path}, which the state at {sample.place} does not have"
    return None


def _shuffled_looks_same(
    subject: Subject,
    sample: Sample,
    seat: int,
    seen: Mapping[str, Visibility],
    generator: np.random.Generator,
) -> Iterator[Finding]:
    zones = cast("dict[str, dict[str, Json]]", subject.game.module.constant("ZONES"))
    other = _shuffle_hidden(sample.state, zones, seen, generator)
    if canonical_key(other) == canonical_key(sample.state):
        return
    game, count = subject.game, subject.num_players
    try:
        before = game.observations(sample.state, count)[seat]
        after = game.observations(other, count)[seat]
    except ModuleFault as fault:
        yield Finding(
            check=CHECK,
            outcome="could_not_judge",
            rule="contract",
            evidence=f"get_observations failed on a state with hidden contents exchanged: {fault}",
            function="get_observations",
            line=fault.line,
        )
        return
    if canonical_key(before) != canonical_key(after):
        yield failed(
            CHECK,
            "get_observations",
            f"seat {seat} at {sample.place} sees hidden contents: its observation changes in "
            f"{_difference(before, after)} when only hidden zones are exchanged",
        )
    if sample.player == seat and game.legal_actions(other) != list(sample.legal):
        yield failed(
            CHECK,
            "get_legal_actions",
            f"the legal actions of seat {seat} at {sample.place} depend on hidden contents",
        )


def _shuffle_hidden(
    state: State,
    zones: Mapping[str, Mapping[str, Json]],
    seen: Mapping[str, Visibility],
    generator: np.random.Generator,
) -> State:
    by_kind: dict[str, list[str]] = {}
    for path, visibility in seen.items():
        zone = read_path(state, path)
        if visibility == "contents" or not _is_pile(zone):
            continue
        kind = next(
            (str(d.get("component")) for p, d in zones.items() if matches(p, path)), "unknown"
        )
        by_kind.setdefault(kind, []).append(path)
    for paths in by_kind.values():
        piles = [cast("list[Json]", read_path(state, path)) for path in paths]
        pool = [item for pile in piles for item in pile]
        order = generator.permutation(len(pool))
        mixed = iter([pool[int(i)] for i in order])
        for path, pile in zip(paths, piles, strict=True):
            state = with_path(state, path, [next(mixed) for _ in pile])
    return state


def _is_pile(zone: Json) -> bool:
    return isinstance(zone, list) and all(isinstance(item, str) for item in zone)


def _events_tell_nothing(subject: Subject, sample: Sample, seat: int) -> Iterator[Finding]:
    if sample.player == seat:
        return
    game, count = subject.game, subject.num_players
    told: dict[str, tuple[str, list[str], str]] = {}
    for action in sample.legal[:_OUTCOMES_COMPARED]:
        state = game.apply_action(sample.state, action)
        key = canonical_key(masked(state, game.visible(state, seat)))
        observation = canonical_key(game.observations(state, count)[seat])
        events = game.events(sample.state, action, count)[seat]
        first = told.setdefault(key, (action, events, observation))
        if first[1] != events:
            yield failed(
                CHECK,
                "get_events",
                f"seat {seat} at {sample.place} is told {events} for {action!r} but {first[1]} "
                f"for {first[0]!r}, although the rules hide the difference",
            )
            return
        if first[2] != observation:
            yield failed(
                CHECK,
                "get_observations",
                f"seat {seat} after {action!r} at {sample.place} sees something other than after "
                f"{first[0]!r}, although the rules hide the difference",
            )
            return


def _difference(before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return ", ".join(repr(key) for key in keys) or "its order"
