"""Check: does the module define what the contract asks, and behave as pure functions?"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from games.checks import Finding
from games.checks.sampling import Sample, Subject, another_order
from games.contract import Game, player_numbers, players_text
from games.library import defaults
from games.table import Position
from games.values import (
    CHANCE,
    REQUIRED_CONSTANTS,
    REQUIRED_FUNCTIONS,
    TERMINAL,
    IllegalActionError,
    Json,
    ModuleFault,
    are_texts,
    canonical_key,
    is_number,
    show,
)

_LONGEST_EVIDENCE = 3000
_LONGEST_NAME = 80
_ACTIONS = 12  # of a sampled state that are tried
_STARTS = 16  # chance that is hidden in the start may give the same state a few times
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
        # The name is the worker's own word: text of any kind where it is no name.
        function=fault.function if fault.function.isidentifier() else None,
        line=fault.line,
    )


def failed(check: str, function: str, evidence: str) -> Finding:
    """A failed finding about one function; evidence that quotes a long value is cut."""
    if len(evidence) > _LONGEST_EVIDENCE:
        evidence = f"{evidence[: _LONGEST_EVIDENCE - 1]}…"
    return Finding(
        check=check, outcome="failed", rule="contract", evidence=evidence, function=function
    )


def check_definitions(game: Game, num_players: int) -> list[Finding]:
    """All names are there, `GAME` is sound and takes so many, player names are the contract's."""
    return judged("definitions", lambda: _definitions(game, num_players))


def _definitions(game: Game, num_players: int) -> Iterator[Finding]:
    for name in (*REQUIRED_FUNCTIONS, *REQUIRED_CONSTANTS):
        if not game.defines(name):
            yield failed("definitions", name, f"the module does not define {name}")
    if not game.defines("GAME"):
        return
    info = game.info
    for evidence in _unsound(info, num_players):
        yield failed("definitions", "GAME", evidence)
    if game.defines("get_player_name"):
        for player, required in ((CHANCE, "chance"), (TERMINAL, "terminal")):
            name = game.player_name(player)
            if name != required:
                yield failed(
                    "definitions",
                    "get_player_name",
                    f"get_player_name({player}) is {name!r}; required: {required!r}",
                )


def _unsound(info: Mapping[str, Json], num_players: int) -> Iterator[str]:
    """Faults in the values of `GAME`."""
    name = str(info["name"])
    try:
        numbers = player_numbers(info)
        if num_players not in numbers:
            yield f"takes {players_text(numbers)} players; asked for: {num_players}"
    except ModuleFault as fault:
        yield fault.message
    if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
        wanted = f"one line of 1 to {_LONGEST_NAME} characters that can be printed"
        yield f"its name is {show(name)}; required: {wanted}"
    if not are_texts(kinds := info.get("conserved", [])):
        yield f"its 'conserved' is {show(kinds)}; required: a list of names"
    declared = info.get("parameters")
    for name, field in declared.items() if isinstance(declared, dict) else ():
        told = field if isinstance(field, dict) else {}  # another one stops the check of the start
        for key, required in _unsound_field(told):
            yield f"its parameter {name} has the {key} {show(told.get(key))}; {required}"


def _unsound_field(field: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """The keys of a declared parameter whose values are none, each with what is required."""
    for key in ("meaning", "format"):
        if not isinstance(field.get(key, ""), str):
            yield key, "required: a sentence"
    choices, ends = field.get("choices"), field.get("range")
    if "choices" in field and not (isinstance(choices, list) and choices):
        yield "choices", "required: a list of the values that it takes"
    elif isinstance(choices, list) and field.get("default") not in choices:
        yield "default", f"required: one of its choices, {show(choices)}"
    low, high = ends if isinstance(ends, list) and len(ends) == 2 else (None, None)  # noqa: PLR2004 - its two ends
    given = field.get("default")
    if "range" in field and not (is_number(low) and is_number(high) and low <= high):
        yield "range", "required: two numbers, the lower one first"
    elif is_number(low) and is_number(high) and not (is_number(given) and low <= given <= high):
        yield "default", f"required: a number in its range, {show(ends)}"


def check_start(subject: Subject) -> list[Finding]:
    """The start pays nothing, is the same each time, and refuses only unknown parameters."""
    return judged("start", lambda: _start(subject))


def _start(subject: Subject) -> Iterator[Finding]:
    game, count = subject.game, subject.num_players
    state = game.initial_state(count, subject.parameters)
    if any(game.rewards(state, count)):
        yield failed("start", "get_rewards", "the first state pays; required: zeros at the start")
    with subject.fresh() as anew:
        asked = (*[game] * _STARTS, anew)
        starts = [each.initial_state(count, subject.parameters) for each in asked]
    if {canonical_key(start) for start in starts} != {canonical_key(state)}:
        evidence = "two calls gave two different states; what is random comes as chance events"
        yield failed("start", "initial_state", evidence)
    declared = {**defaults(game.info), **subject.parameters}  # a match is started with all of them
    try:
        same = canonical_key(game.initial_state(count, declared)) == canonical_key(state)
        problem = "" if same else "gives another state than without"
    except ModuleFault as fault:
        problem = f"does not start ({fault})"
    if problem:
        told = f"with the defaults that GAME declares, {show(declared)}, it {problem}"
        yield failed("start", "initial_state", told)
    try:
        game.initial_state(count, {**subject.parameters, "no_such_parameter": 1})
    except ModuleFault:
        return
    yield failed(
        "start", "initial_state", "accepted the unknown parameter no_such_parameter; must raise"
    )


def check_functions(subject: Subject, samples: Sequence[Sample], *, seed: int) -> list[Finding]:
    """On sampled states: deterministic, arguments unchanged, illegal actions refused.

    Every call is made twice: where the matches were played, and in a fresh copy of the module in
    another order, which has no memory of the first answers.
    """
    return judged("functions", lambda: _functions(subject, samples, seed))


def _functions(subject: Subject, samples: Sequence[Sample], seed: int) -> Iterator[Finding]:
    questions = [question for sample in samples for question in _questions(subject, sample)]
    yield from _first_of_a_kind(_impure(subject, questions, seed))
    if subject.game.info.get("learned") is not True:  # what is legal, a referee judges
        yield from _accepted_illegal(subject, samples)
    yield from _first_of_a_kind(_futile(subject, samples))


def _accepted_illegal(subject: Subject, samples: Sequence[Sample]) -> Iterator[Finding]:
    known = sorted({action for sample in samples for action in sample.legal})
    for sample in samples:
        legal = set(sample.legal)
        illegal = (action for action in known if action not in legal)
        for action in (_NEVER_AN_ACTION, *islice(illegal, 2)):
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


def _futile(subject: Subject, samples: Sequence[Sample]) -> Iterator[Finding]:
    """Listed actions, not those alone that were played, that cannot be taken or change nothing."""
    for sample in samples:
        subject.open()  # samples are no match, and none of them is kept
        for action in sample.legal[:_ACTIONS]:
            before = Position(
                sample.state, sample.player, sample.legal, (), (0.0,) * subject.num_players, (), ()
            )
            try:
                after = subject.table.advance(before, action)
            except ModuleFault as fault:
                evidence = f"fails at {sample.place} with the legal action {action!r}: {fault}"
                yield failed("functions", fault.function, evidence)
                continue
            same = canonical_key(after.state) == canonical_key(sample.state)
            if same and after.player == sample.player != CHANCE:
                yield failed(
                    "functions",
                    "apply_action",
                    f"leaves everything as it is at {sample.place}, after {action!r}; required: "
                    "that an action changes something, if only whose turn it is",
                )


@dataclass(frozen=True)
class _Question:
    """One call on a sampled state; `met` is what play met there, None where it keeps no value."""

    function: str
    arguments: list[Json]
    place: str
    met: Json = None


def _questions(subject: Subject, sample: Sample) -> Iterator[_Question]:
    state, place, game = sample.state, sample.place, subject.game
    yield _Question("get_current_player", [state], place, sample.player)
    yield _Question("get_legal_actions", [state], place, list(sample.legal))
    for function in ("get_rewards", "get_observations"):
        yield _Question(function, [state], place)
    for seat in range(subject.num_players):
        yield _Question("visible", [state, seat], place)
    if sample.player == CHANCE and game.defines("get_chance_probabilities"):
        yield _Question("get_chance_probabilities", [state], place)
    if game.defines("value_function"):
        yield _Question("value_function", [state, 0], place)
    if sample.legal:
        yield _Question("apply_action", [state, sample.legal[0]], place)
        yield _Question("get_events", [state, sample.legal[0]], place)


def _impure(subject: Subject, questions: Sequence[_Question], seed: int) -> Iterator[Finding]:
    values: list[set[str]] = []
    for question in questions:
        value, changed = _ask(subject.game, question)
        values.append({value} if question.met is None else {value, canonical_key(question.met)})
        yield from changed
    with subject.fresh() as again:
        start = (subject.num_players, subject.parameters)
        if canonical_key(again.initial_state(*start)) != canonical_key(
            subject.game.initial_state(*start)
        ):
            evidence = "gives another state after matches than before: nothing may be kept in it"
            yield failed("functions", "initial_state", evidence)
        for index in another_order(len(questions), seed=seed):
            value, changed = _ask(again, questions[index])
            values[index].add(value)
            yield from changed
    for question, answers in zip(questions, values, strict=True):
        if len(answers) > 1:
            yield failed(
                "functions",
                question.function,
                f"two calls gave two different values at {question.place}: it must depend on "
                "its arguments alone, not on earlier calls or their order",
            )


def _ask(game: Game, question: _Question) -> tuple[str, list[Finding]]:
    value, after = game.module.call_echo(question.function, question.arguments)
    if canonical_key(after) == canonical_key(question.arguments):
        return canonical_key(value), []
    evidence = f"changed its argument at {question.place}; must copy"
    return canonical_key(value), [failed("functions", question.function, evidence)]


def _first_of_a_kind(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One finding for each function and fault: forty states may show the same."""
    seen: set[tuple[str | None, str]] = set()
    for found in findings:
        kind = (found.function, found.evidence.partition(" at ")[0])
        if kind not in seen:
            seen.add(kind)
            yield found
