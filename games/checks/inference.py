"""Check: the optional inference and value functions keep their promises."""

import math
from collections.abc import Iterator, Sequence
from typing import cast

from games.checks.contract import failed, judged
from games.checks.findings import Finding
from games.checks.sampling import Sample, Subject
from games.contract import TERMINAL, Json, State, canonical_key
from games.engine import Match
from games.information import SeatLog, own_turns


def check_resampling(
    subject: Subject, matches: Sequence[Match], *, per_match: int
) -> list[Finding]:
    """`resample_state` reproduces the seat's newest observation and its legal actions."""
    if not subject.game.defines("resample_state"):
        return []
    return judged("resampling", lambda: _resampling(subject, matches, per_match))


def _resampling(subject: Subject, matches: Sequence[Match], per_match: int) -> Iterator[Finding]:
    for index, match in enumerate(matches):
        for ply, log, legal in _decisions(match, per_match):
            history = [list(turn) for turn in own_turns(log)]
            drawn = subject.game.module.call("resample_state", cast("Json", history), log.seat)
            if not isinstance(drawn, dict):
                yield failed("resampling", "resample_state", "did not return a state")
                return
            problem = _differs(subject, drawn, log, legal)
            if problem:
                where = f"for seat {log.seat} at match {index}, ply {ply}"
                yield failed("resampling", "resample_state", f"{problem} {where}")
                return


def _decisions(match: Match, per_match: int) -> Iterator[tuple[int, SeatLog, tuple[str, ...]]]:
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
            yield index, log, ply.legal
        log.act(ply.action)


def _differs(subject: Subject, state: State, log: SeatLog, legal: Sequence[str]) -> str | None:
    game = subject.game
    seen = game.observations(state, subject.num_players)[log.seat]
    if canonical_key(seen) != canonical_key(log.latest()):
        return "gave a state with another observation than the one observed"
    if game.current_player(state) != log.seat:
        return "gave a state in which somebody else is to move"
    if game.legal_actions(state) != list(legal):
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
            if type(value) not in (int, float) or not math.isfinite(cast("float", value)):
                yield failed("value", "value_function", f"returned {value!r} at {sample.place}")
                return
            if sample.player == TERMINAL and value != rewards[seat]:
                yield failed(
                    "value",
                    "value_function",
                    f"is {value} for seat {seat} at the end; get_rewards says {rewards[seat]}",
                )
                return
