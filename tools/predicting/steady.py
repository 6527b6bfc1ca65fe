"""Steadiness tests: a model's answers depend on its arguments, not on clock, chance or memory."""

from collections.abc import Sequence

from games.checks import Finding
from games.streams import stream
from games.trajectories import OpenTrajectory
from games.values import CHANCE, TERMINAL, IllegalActionError, Json, ModuleFault, canonical_key
from tools.guest.operations import OF_A_POSITION
from tools.predicting import called, cut, failing
from tools.predicting.transition import RecordQuestions, name_of, predicted
from tools.sandbox import Sandbox
from tools.sandbox.reading import foreign_imports
from tools.sandbox.worker import CallResult
from tools.transitions import Column, ask_columns
from vectorstore import sources

KIND = "steady"
ALLOWED_IMPORTS = tuple(sorted(sources.ALLOWED_IMPORTS | {"random", "typing"}))
_SHOWN = 300
_LOOKED_AT = 40
_LATE = 12  # plies asked again: so few calls that their worker is a fresh one to the end


def imports(source: str, more: Sequence[str] = ()) -> list[Finding]:
    """A finding for everything that a source imports and a model, or `more`, has no use for.

    `random` is for the inference functions alone; that it plays no part elsewhere, asking again
    shows.
    """
    allowed = (*ALLOWED_IMPORTS, *more)
    return [
        _unsteady(f"it imports {name}; allowed: {', '.join(allowed)}", line=line)
        for name, line in foreign_imports(source, allowed)
    ]


def asked_again(sandbox: Sandbox, source: str, matches: Sequence[OpenTrajectory]) -> list[Finding]:
    """A finding for each function that answers another way in another order, or when asked twice.

    The same questions go to a fresh worker with matches and functions in reverse order, then to
    one for each half of the matches.

    Args:
        sandbox: Where it runs.
        source: The learned source.
        matches: What is asked; nothing of it is compared but the answers with each other.
    """
    half = max(1, len(matches) // 2)
    orders = [(matches, 1), (matches, -1), (matches[:half], 1), (matches[half:], 1)]
    first: dict[str, str] = {}
    found: dict[str, Finding] = {}
    for order, way in orders:
        if not order:
            continue
        columns = [
            Column(one.states[::way], one.actions[::way])
            for one in RecordQuestions.of(order).calls.columns
        ]
        try:
            answered = ask_columns(sandbox, source, columns)
        except ModuleFault as fault:
            return [_unsteady(str(fault), line=fault.line)]
        asked = {q.key: q for column in columns for q in (*column.states, *column.actions)}
        for key, answer in answered.answers.items():
            said = _said(answer)
            if first.setdefault(key, said) != said and asked[key].function not in found:
                function = asked[key].function
                found[function] = _unsteady(
                    f"{asked[key].place}: asked again in another order, {function} answered "
                    f"{cut(said, _SHOWN)}; before {cut(first[key], _SHOWN)}. An answer must depend "
                    "on the arguments alone: no clock, no chance, no memory of calls",
                    function,
                )
    return [*found.values()]


def late_answers(
    sandbox: Sandbox, module: str, played: Sequence[OpenTrajectory], seed: int
) -> list[Finding]:
    """A finding where a fresh worker does not say what one said late in a long run of matches.

    Args:
        sandbox: Where it runs.
        module: The learned source.
        played: Matches that one worker played in it, in order; see `random_play`.
        seed: Draws the plies of the later half that are asked again.
    """
    late = played[len(played) // 2 :]
    places = [(match, step) for match in late for step in range(len(match.actions))]
    order = stream(seed, "late answers").permutation(len(places))[:_LATE]
    sample = [
        OpenTrajectory(
            m.match, m.positions[ply : ply + 2], m.actions[ply : ply + 1], truncated=True
        )
        for m, ply in (places[int(index)] for index in sorted(order))
    ]
    if not sample:
        return []
    said = (
        "A worker that had answered hundreds of calls gave what is called expected here, and a "
        "fresh one another answer. An answer must depend on the arguments alone, however many "
        "calls came before."
    )
    return [
        found.model_copy(update={"check": KIND, "evidence": f"{said}\n{found.evidence}"})
        for found in predicted(sandbox, module, RecordQuestions.of(sample), shown=1).failures
    ]


def arguments_kept(
    sandbox: Sandbox, source: str, matches: Sequence[OpenTrajectory]
) -> list[Finding]:
    """A finding for each function that changes the state it is given.

    Recorded states are sent anew with each call, so that no transition test would show it; a
    search inside the model would go on from a state that was changed under it.

    Args:
        sandbox: Where it runs.
        source: The learned source, which answers all that is asked here.
        matches: Of which up to forty positions are looked at.
    """
    places = [(match, step) for match in matches for step in range(len(match.actions))]
    found: dict[str, Finding] = {}
    with sandbox.loaded("arguments", source) as worker:
        for match, step in places[:: max(1, len(places) // _LOOKED_AT)][:_LOOKED_AT]:
            state, action = match.positions[step].state, match.actions[step]
            calls: list[tuple[str, list[Json]]] = [(name, [state]) for name in OF_A_POSITION]
            calls.append(("apply_action", [state, action]))
            for function, given in calls:
                if function in found:
                    continue
                _, left = worker.call_echo(function, given)
                if canonical_key(left) != canonical_key([*given]):
                    was, now = (cut(repr(one), _SHOWN) for one in (state, left[0]))
                    said = f"{function} changed the state it was given: {now}; it was {was}"
                    place = f"match {match.match}, position {step}"
                    found[function] = _unsteady(f"{place}: {said}. Work on a copy", function)
    return [*found.values()]


def names_told(sandbox: Sandbox, source: str, seats: int) -> list[Finding]:
    """A finding where a source names a seat, chance or the end otherwise than the contract says.

    A match asks only for the names of those who moved in it.
    """
    function = "get_player_name"
    with sandbox.loaded("names", source) as worker:
        for player in (*range(seats), CHANCE, TERMINAL):
            actual = worker.ask(function, [player])
            if actual != name_of(player):
                call = called(function, [player])
                return [failing(KIND, function, call, name_of(player), actual, "the contract")]
    return []


def _unsteady(evidence: str, function: str | None = None, line: int | None = None) -> Finding:
    return Finding(check=KIND, outcome="failed", evidence=evidence, function=function, line=line)


def _said(answer: CallResult) -> str:
    if isinstance(answer, ModuleFault | IllegalActionError):
        return f"failed: {answer}"
    return canonical_key(answer)
