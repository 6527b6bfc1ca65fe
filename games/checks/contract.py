"""Check: does the module define what the contract asks, and behave as pure functions?"""

from collections.abc import Callable, Iterator, Sequence

from games.checks.findings import Finding
from games.checks.sampling import Sample, Subject
from games.contract import (
    CHANCE,
    MAX_PLAYERS,
    REQUIRED_CONSTANTS,
    REQUIRED_FUNCTIONS,
    TERMINAL,
    Game,
    IllegalActionError,
    Json,
    ModuleFault,
    canonical_key,
)

_NEVER_AN_ACTION = "no such action (asked by the contract check)"


def judged(check: str, body: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """Run a check; a module fault becomes a failed finding, no finding becomes a pass."""
    findings: list[Finding] = []
    try:
        findings.extend(body())
    except ModuleFault as fault:
        findings.append(from_fault(check, fault))
    except IllegalActionError as refusal:
        findings.append(
            failed(check, "apply_action", f"refused an action that is listed as legal: {refusal}")
        )
    return findings or [Finding(check=check, outcome="passed")]


def from_fault(check: str, fault: ModuleFault) -> Finding:
    """A module's fault as a failed finding."""
    return Finding(
        check=check,
        outcome="failed",
        rule="contract",
        evidence=str(fault),
        function=fault.function,
        line=fault.line,
    )


def failed(check: str, function: str, evidence: str, rule: str = "contract") -> Finding:
    """A failed finding about one function."""
    return Finding(check=check, outcome="failed", rule=rule, evidence=evidence, function=function)


def check_definitions(game: Game) -> list[Finding]:
    """Every required name is there, `GAME` is sound, and the player names are the contract's."""
    return judged("definitions", lambda: _definitions(game))


def _definitions(game: Game) -> Iterator[Finding]:
    for name in (*REQUIRED_FUNCTIONS, *REQUIRED_CONSTANTS):
        if not game.defines(name):
            yield failed("definitions", name, f"the module does not define {name}")
    if not game.defines("GAME"):
        return
    info = game.info
    fewest, most = info["min_players"], info["max_players"]
    sound = type(fewest) is int and type(most) is int and 1 <= fewest <= most <= MAX_PLAYERS
    if not sound:
        yield failed(
            "definitions",
            "GAME",
            f"min_players={fewest!r}, max_players={most!r}; required: 1 <= min <= max <= 8",
        )
    if game.defines("get_player_name"):
        for player, required in ((CHANCE, "chance"), (TERMINAL, "terminal")):
            name = game.player_name(player)
            if name != required:
                yield failed(
                    "definitions",
                    "get_player_name",
                    f"get_player_name({player}) is {name!r}; required: {required!r}",
                )


def check_start(subject: Subject) -> list[Finding]:
    """The start pays nothing, is the same twice, and unknown parameters are refused."""
    return judged("start", lambda: _start(subject))


def _start(subject: Subject) -> Iterator[Finding]:
    game, count = subject.game, subject.num_players
    state = game.initial_state(count, subject.parameters)
    if any(game.rewards(state, count)):
        yield failed("start", "get_rewards", "the first state pays; required: zeros at the start")
    if canonical_key(state) != canonical_key(game.initial_state(count, subject.parameters)):
        yield failed("start", "initial_state", "two calls gave two different states")
    try:
        game.initial_state(count, {**subject.parameters, "no_such_parameter": 1})
    except ModuleFault:
        return
    yield failed(
        "start", "initial_state", "accepted the unknown parameter no_such_parameter; must raise"
    )


def check_functions(subject: Subject, samples: Sequence[Sample]) -> list[Finding]:
    """On sampled states: deterministic, arguments unchanged, illegal actions refused."""
    return judged("functions", lambda: _functions(subject, samples))


def _functions(subject: Subject, samples: Sequence[Sample]) -> Iterator[Finding]:
    known = sorted({action for sample in samples for action in sample.legal})
    for sample in samples:
        yield from _pure(subject, sample)
        illegal = [a for a in known if a not in sample.legal][:2]
        for action in (_NEVER_AN_ACTION, *illegal):
            try:
                subject.game.apply_action(sample.state, action)
            except IllegalActionError:
                continue
            yield failed(
                "functions",
                "apply_action",
                f"accepted {action!r} at {sample.place}, which get_legal_actions does not list; "
                "required: ValueError",
            )
            return


def _pure(subject: Subject, sample: Sample) -> Iterator[Finding]:
    calls: list[tuple[str, list[Json]]] = [
        ("get_current_player", [sample.state]),
        ("get_legal_actions", [sample.state]),
        ("get_rewards", [sample.state]),
        ("get_observations", [sample.state]),
        ("visible", [sample.state, 0]),
    ]
    if sample.legal:
        calls.append(("apply_action", [sample.state, sample.legal[0]]))
        calls.append(("get_events", [sample.state, sample.legal[0]]))
    for function, arguments in calls:
        before = canonical_key(arguments)
        first, after = subject.game.module.call_echo(function, arguments)
        if canonical_key(after) != before:
            yield failed(
                "functions", function, f"changed its argument at {sample.place}; must copy"
            )
        if canonical_key(first) != canonical_key(subject.game.module.call(function, *arguments)):
            yield failed(
                "functions", function, f"two calls gave two different values at {sample.place}"
            )
