"""Checks of what stays the same: components (cards stay cards), and what all are paid together."""

from collections import Counter
from collections.abc import Iterator, Sequence

from games.checks.contract import failed, from_fault, judged
from games.checks.findings import Finding
from games.checks.sampling import Sample, Subject
from games.checks.zones import components, concrete_paths, read_path
from games.contract import Json, ModuleFault, State
from games.engine import Match
from games.values import are_texts, is_number, show

_EXACT = 1e-6


def check_conservation(subject: Subject, samples: Sequence[Sample]) -> list[Finding]:
    """The multiset of every component kind in `GAME["conserved"]` never changes.

    A game that declares none (pieces are placed without limit) gives no finding: a check that
    compared nothing has not passed.
    """
    try:
        kinds = subject.game.info.get("conserved", [])
    except ModuleFault as fault:  # such as that its worker has ended
        return [from_fault("conservation", fault)]
    if not are_texts(kinds) or not kinds:
        return []
    return judged("conservation", lambda: _conserved(subject, samples, kinds))


def _conserved(
    subject: Subject, samples: Sequence[Sample], kinds: Sequence[str]
) -> Iterator[Finding]:
    zones = subject.game.module.constant("ZONES")
    if not isinstance(zones, dict):
        yield failed("conservation", "ZONES", "must be a dict of path pattern -> declaration")
        return
    start = subject.game.initial_state(subject.num_players, subject.parameters)
    for kind in kinds:
        required = _count(start, zones, kind)
        if not required:
            yield failed("conservation", "ZONES", f"no {kind} stands in any zone at the start")
        for sample in samples:
            found = _count(sample.state, zones, kind)
            if found != required:
                yield failed(
                    "conservation",
                    "apply_action",
                    f"at {sample.place} the {kind}s differ from the start: "
                    f"missing {_show(required - found)}, extra {_show(found - required)}",
                )
                break


def check_total(subject: Subject, matches: Sequence[Match]) -> list[Finding]:
    """What the seats are paid in a match sums to `GAME["total"]`, where the rules fix that sum.

    A game that declares none (scores that each player gathers) gives no finding.
    """
    try:
        total = subject.game.info.get("total")
    except ModuleFault as fault:
        return [from_fault("total", fault)]
    if total is None:
        return []
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


def _count(state: State, zones: dict[str, Json], kind: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for pattern, declaration in zones.items():
        if isinstance(declaration, dict) and declaration.get("component") == kind:
            for path in concrete_paths(state, pattern):
                total.update(components(read_path(state, path)))
    return total


def _show(counter: Counter[str]) -> str:
    return ", ".join(sorted(counter.elements())[:12]) or "none"
