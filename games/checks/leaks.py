"""Check: nobody sees what the rules hide (the leak audit).

Two states that differ only where `visible` hides contents from a seat must look the same to that
seat: the same observation and, when it is to move, the same legal actions. And two outcomes that
leave such a pair behind must be told to that seat in the same words. No copy of the module is asked
about both of a pair: one that remembers the first could answer the second alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from games.checks.contract import failed, from_fault, judged
from games.checks.findings import Finding
from games.checks.sampling import Sample, Subject
from games.checks.zones import concrete_paths, masked, matches, read_path, with_path
from games.contract import (
    Game,
    Json,
    ModuleFault,
    Observation,
    State,
    Visibility,
    canonical_key,
)
from games.streams import stream

CHECK = "leak_audit"
_OUTCOMES_COMPARED = 8


def check_leaks(subject: Subject, samples: Sequence[Sample], *, seed: int) -> list[Finding]:
    """Audit every seat on every sample; see the module's docstring."""
    return judged(CHECK, lambda: _audit(subject, samples, seed))


def _audit(subject: Subject, samples: Sequence[Sample], seed: int) -> Iterator[Finding]:
    # In the order of play, so that no later state tells early what was hidden.
    samples = sorted(samples, key=lambda sample: (sample.match, sample.ply))
    for seat in range(subject.num_players):
        found = list(_hidden_from(subject, samples, seat, seed))
        if found:
            yield from found
            return
    yield from _told_the_same(subject, samples)


@dataclass(frozen=True)
class _Pair:
    """A state of play, what a seat sees of it, and the same state with hidden zones exchanged."""

    sample: Sample
    before: Observation
    other: State


def _hidden_from(
    subject: Subject, samples: Sequence[Sample], seat: int, seed: int
) -> Iterator[Finding]:
    pairs: list[_Pair] = []
    zones = subject.game.module.constant("ZONES")
    for index, sample in enumerate(samples):
        seen = subject.game.visible(sample.state, seat)
        problem = _undeclared(zones, sample, seen) or _unreadable(sample, seen)
        if problem:
            yield failed(CHECK, "visible", problem)
            return
        generator = stream(seed, "leak audit", match=index, seat=seat)
        declared = cast("dict[str, dict[str, Json]]", zones)
        other = exchange_hidden(sample.state, declared, seen, generator)
        if canonical_key(other) != canonical_key(sample.state):
            before = subject.game.observations(sample.state, subject.num_players)[seat]
            pairs.append(_Pair(sample, before, other))
    if not pairs:
        return
    with subject.fresh() as anew:
        for pair in pairs:
            found = list(_looks_same(anew, pair, seat, subject.num_players))
            if found:
                yield from found
                return


def _looks_same(game: Game, pair: _Pair, seat: int, count: int) -> Iterator[Finding]:
    sample = pair.sample
    try:
        after = game.observations(pair.other, count)[seat]
    except ModuleFault as fault:
        yield from_fault(CHECK, fault).model_copy(
            update={
                "outcome": "could_not_judge",
                "evidence": "get_observations failed on a state with hidden contents exchanged: "
                f"{fault}",
            }
        )
        return
    if canonical_key(pair.before) != canonical_key(after):
        yield failed(
            CHECK,
            "get_observations",
            f"seat {seat} at {sample.place} sees hidden contents: its observation changes in "
            f"{_difference(pair.before, after)} when only hidden zones are exchanged",
        )
    if sample.player == seat and game.legal_actions(pair.other) != list(sample.legal):
        yield failed(
            CHECK,
            "get_legal_actions",
            f"the legal actions of seat {seat} at {sample.place} depend on hidden contents",
        )


def _undeclared(zones: Json, sample: Sample, seen: Mapping[str, Visibility]) -> str | None:
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


def exchange_hidden(
    state: State,
    zones: Mapping[str, Mapping[str, Json]],
    seen: Mapping[str, Visibility],
    generator: np.random.Generator,
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


@dataclass(frozen=True)
class _Told:
    """What one outcome leaves for one seat: the state as far as the rules show it, and the rest."""

    action: str
    key: str
    events: list[str]
    observation: str


def _told_the_same(subject: Subject, samples: Sequence[Sample]) -> Iterator[Finding]:
    """Each outcome is asked of a copy of the module that was never asked of another one."""
    outcomes = min(_OUTCOMES_COMPARED, max((len(sample.legal) for sample in samples), default=0))
    told: list[list[list[_Told]]] = [[] for _ in samples]  # sample, outcome, seat
    for number in range(outcomes):
        with subject.fresh() as anew:
            for index, sample in enumerate(samples):
                if number < len(sample.legal):
                    told[index].append(_tell(subject, anew, sample, sample.legal[number]))
    for sample, by_outcome in zip(samples, told, strict=True):
        for seat in range(subject.num_players):
            column = [seats[seat] for seats in by_outcome]
            found = _differently(sample, seat, column) if seat != sample.player else None
            if found is not None:
                yield found
                return


def _tell(subject: Subject, game: Game, sample: Sample, action: str) -> list[_Told]:
    count = subject.num_players
    state = game.apply_action(sample.state, action)
    events = game.events(sample.state, action, count)
    observations = game.observations(state, count)
    return [
        _Told(
            action,
            canonical_key(masked(state, game.visible(state, seat))),
            events[seat],
            canonical_key(observations[seat]),
        )
        for seat in range(count)
    ]


def _differently(sample: Sample, seat: int, told: Sequence[_Told]) -> Finding | None:
    first_of: dict[str, _Told] = {}
    for now in told:
        first = first_of.setdefault(now.key, now)
        if first.events != now.events:
            return failed(
                CHECK,
                "get_events",
                f"seat {seat} at {sample.place} is told {now.events} for {now.action!r} but "
                f"{first.events} for {first.action!r}, although the rules hide the difference",
            )
        if first.observation != now.observation:
            return failed(
                CHECK,
                "get_observations",
                f"seat {seat} after {now.action!r} at {sample.place} sees something other than "
                f"after {first.action!r}, although the rules hide the difference",
            )
    return None


def _difference(before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return ", ".join(repr(key) for key in keys) or "its order"
