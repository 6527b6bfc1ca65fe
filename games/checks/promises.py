"""Checks of promises: conserved components, a fixed total, inference and value functions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from games.checks import Finding
from games.checks.contract import failed, from_fault, judged
from games.checks.sampling import Sample, Subject
from games.checks.zones import components, concrete_paths, read_path
from games.contract import Game
from games.engine import Match
from games.information import SeatLog, own_turns
from games.values import (
    TERMINAL,
    Json,
    ModuleFault,
    Observation,
    State,
    are_texts,
    canonical_key,
    canonical_value,
    is_number,
    show,
)

_EXACT = 1e-6


def check_conservation(subject: Subject, samples: Sequence[Sample]) -> list[Finding]:
    """The multiset of every component kind in `GAME["conserved"]` never changes.

    A game that declares none (pieces are placed without limit) gives no finding: a check that
    compared nothing has not passed.
    """
    kinds, faults = _declared(subject, "conservation", "conserved")
    if faults or not are_texts(kinds) or not kinds:
        return faults
    return judged("conservation", lambda: _conserved(subject, samples, kinds))


def _declared(subject: Subject, check: str, name: str) -> tuple[Json, list[Finding]]:
    """The value of `GAME` under a name, and a finding where it cannot be read."""
    try:
        return subject.game.info.get(name), []
    except ModuleFault as fault:  # such as that its worker has ended
        return None, [from_fault(check, fault)]


def _conserved(
    subject: Subject, samples: Sequence[Sample], kinds: Sequence[str]
) -> Iterator[Finding]:
    zones = subject.game.module.constant("ZONES")
    if not isinstance(zones, dict):
        yield failed("conservation", "ZONES", "must be a dict of path pattern -> declaration")
        return
    start = subject.game.initial_state(subject.num_players, subject.parameters)
    for kind in kinds:
        required = components_of_kind(start, zones, kind)
        if not required:
            yield failed("conservation", "ZONES", f"no {kind} stands in any zone at the start")
        for sample in samples:
            found = components_of_kind(sample.state, zones, kind)
            if found != required:
                yield failed(
                    "conservation",
                    "apply_action",
                    f"at {sample.place} the {kind}s differ from the start: "
                    f"missing {_show(required - found)}, extra {_show(found - required)}",
                )
                break


def check_total(subject: Subject, matches: Sequence[Match]) -> list[Finding]:
    """Check that a match's rewards sum to `GAME["total"]`, where the rules fix that sum.

    A game that declares none (scores that each player gathers) gives no finding.
    """
    total, faults = _declared(subject, "total", "total")
    if faults or total is None:
        return faults
    return judged("total", lambda: _paid(matches, total))


def _paid(matches: Sequence[Match], total: Json) -> Iterator[Finding]:
    if not is_number(total):
        yield failed("total", "GAME", f"total is {show(total)}; required: a finite number")
        return
    finished = [(n, m.returns) for n, m in enumerate(matches) if m.returns is not None]
    for number, returns in finished:
        if abs(sum(returns) - total) > _EXACT:
            yield failed(
                "total",
                "get_rewards",
                f"match {number} paid {list(returns)}, {sum(returns):g} in all; "
                f"GAME says that the rules always pay {total:g} in all",
            )
            return
    if not finished:
        yield Finding(check="total", outcome="could_not_judge", evidence="no match finished")


def components_of_kind(state: State, zones: Mapping[str, Json], kind: str) -> Counter[str]:
    """The count of each component of a kind that lies in the zones of a state."""
    total: Counter[str] = Counter()
    for pattern, declaration in zones.items():
        if isinstance(declaration, dict) and declaration.get("component") == kind:
            for path in concrete_paths(state, pattern):
                total.update(components(read_path(state, path)))
    return total


def _show(counter: Counter[str]) -> str:
    return ", ".join(sorted(counter.elements())[:12]) or "none"


def check_resampling(
    subject: Subject, matches: Sequence[Match], *, per_match: int
) -> list[Finding]:
    """`resample_state` reproduces the seat's newest observation and its legal actions."""
    if not subject.game.defines("resample_state"):
        return []
    return judged("resampling", lambda: _resampling(subject, matches, per_match))


def _resampling(subject: Subject, matches: Sequence[Match], per_match: int) -> Iterator[Finding]:
    """Each seat's states are drawn by a copy that met no other seat's view, and read by another.

    A copy that has played the match could give back the state it remembers.
    """
    asked = [
        decision
        for index, match in enumerate(matches)
        for decision in _decisions(index, match, per_match)
    ]
    drawn: list[tuple[_Decision, State]] = []
    for seat in sorted({decision.seat for decision in asked}):
        with subject.fresh() as anew:
            for decision in asked:
                if decision.seat != seat:
                    continue
                state = anew.module.call("resample_state", decision.history, seat)
                if not isinstance(state, dict):
                    yield failed("resampling", "resample_state", "did not return a state")
                    return
                drawn.append((decision, state))
    if not drawn:
        return
    with subject.fresh() as reader:
        for decision, state in drawn:
            problem = _differs(reader, subject.num_players, state, decision)
            if problem:
                where = f"for seat {decision.seat} at {decision.place}"
                yield failed("resampling", "resample_state", f"{problem} {where}")
                return


@dataclass(frozen=True)
class _Decision:
    """A decision that was met: what its seat knew, saw last and could do."""

    place: str
    seat: int
    history: Json
    latest: Observation
    legal: tuple[str, ...]


def _decisions(number: int, match: Match, per_match: int) -> Iterator[_Decision]:
    seats = len(match.plies[0].events) if match.plies else 0
    turns = [i for i, ply in enumerate(match.plies) if ply.player >= 0]
    chosen = set(turns[:: max(1, len(turns) // per_match)])
    logs = [SeatLog(seat) for seat in range(seats)]
    for index, ply in enumerate(match.plies):
        if ply.player < 0 or ply.observation is None:
            continue
        log = logs[ply.player]
        log.see(ply.observation, [])
        if index in chosen:
            history: list[Json] = [[*turn] for turn in own_turns(log)]
            place = f"match {number}, ply {index}"
            yield _Decision(place, log.seat, history, log.latest(), ply.legal)
        log.act(ply.action)


def _differs(game: Game, count: int, state: State, met: _Decision) -> str | None:
    seen = game.observations(state, count)[met.seat]
    if canonical_key(canonical_value(seen)) != canonical_key(met.latest):
        return "gave a state with another observation than the one observed"
    if game.current_player(state) != met.seat:
        return "gave a state in which somebody else is to move"
    if game.legal_actions(state) != list(met.legal):
        return "gave a state with other legal actions"
    return None


def check_value(subject: Subject, samples: Sequence[Sample]) -> list[Finding]:
    """`value_function` equals the rewards at terminal states and is finite elsewhere."""
    if not subject.game.defines("value_function"):
        return []
    return judged("value", lambda: _value(subject, samples))


def _value(subject: Subject, samples: Sequence[Sample]) -> Iterator[Finding]:
    for sample in samples:
        rewards = subject.game.rewards(sample.state, subject.num_players)
        for seat in range(subject.num_players):
            value = subject.game.module.call("value_function", sample.state, seat)
            if not is_number(value):
                yield failed("value", "value_function", f"returned {value!r} at {sample.place}")
                return
            if sample.player == TERMINAL and value != rewards[seat]:
                yield failed(
                    "value",
                    "value_function",
                    f"is {value} for seat {seat} at the end; get_rewards says {rewards[seat]}",
                )
                return
