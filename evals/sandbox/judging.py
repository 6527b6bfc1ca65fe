"""Judgement of unseen attacks, and of cheats: what carries hidden things past the referee.

An attack on hidden cards has failed where the check does not pass it, where its matches are void,
where the module itself fails in all of them, or where its player is right no more often than chance
may be.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import comb
from pathlib import Path
from re import MULTILINE, findall
from typing import Literal

from pydantic import BaseModel

from agents.players.registry import PRELOAD, PlayerRoster
from evals.bench.timings import processor_s
from evals.results import EvalError, Row, Score, read_data, score_over
from evals.sandbox.bench import new_worker
from games.checks.run import CheckSettings
from games.values import Json, ModuleFault, canonical_key, is_number
from tools.checking import check_source
from tools.playtest.jobs import GameSetup
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.replaying import VoidResultError
from tools.sandbox import Sandbox
from tools.sandbox.backends import Backend

_PLAYER = "osla:belief=module,passes=6,rollouts=4"
_MATCHES = 12
_RANKS = 8  # of which one is right
_RARE = 0.001  # chance is not held to be rarer than that
_HONEST_BYTES = 55_304  # of the honest twin's journal, four matches
_TIMES = 20
_PLAY_S = 60.0
_LATE = "timed_out"  # what a busy machine does to honest modules too


class UnseenAttack(BaseModel, frozen=True, extra="forbid"):
    """One attack.

    Attributes:
        name: Its name.
        what: What it does.
        must_be: What it must come to, as its writer says.
        before: What was seen before it was mended.
        source: The module.
        seed: Of its matches.
        seats: Whose guesses count, from 0.
        first_round: The first round whose guesses count.
        own: Ranks of the own card with which a guess counts; "" for all.
        against: Who sits at the other seat.
        aim: What a guess names: the other's card, or what the other calls next.
        forged: Lines that may not stand at the terminal's margin.
        checked: Whether it has to pass the check first; not where it waits until it was checked.
    """

    name: str
    what: str
    must_be: str
    before: str
    source: str
    seed: int = 987654321
    seats: tuple[int, ...] = (0, 1)
    first_round: int = 0
    own: str = ""
    against: str = "random"
    aim: Literal["card", "call"] = "card"
    forged: str = ""
    checked: bool = True


def unseen_attacks(kind: str) -> tuple[UnseenAttack, ...]:
    """The attacks of a kind: "told", "watched", "size" or "text"."""
    rows = read_data(f"sandbox/unseen/{kind}.yaml")
    return tuple(UnseenAttack.model_validate(row) for row in rows)


def judged_unseen(sandbox: Sandbox) -> Iterator[Row]:
    """A row an attack; `held` says whether it came to nothing.

    Args:
        sandbox: Where they run; it must preload what players need.
    """
    for kind in ("told", "watched", "size", "text"):
        for attack in unseen_attacks(kind):
            how = refusal(sandbox, attack) if attack.checked else ""
            held = bool(how)
            if not held:
                held, how = _tried(sandbox, attack, kind)
            about: Row = attack.model_dump(exclude={"source", "forged"}, mode="json")
            yield {**about, "kind": kind, "held": held, "how": how}


def held_unseen(rows: list[Row]) -> Score:
    """The number of them that work."""
    return score_over([not row["held"] for row in rows], "unseen attacks that work", sum, at_most=0)


def refusal(sandbox: Sandbox, attack: UnseenAttack) -> str:
    """Why the check does not pass it; "" where it does, or where only its time ran out."""
    found = check_source(
        sandbox, attack.source, settings=CheckSettings(), num_players=2, parameters={}, records=0
    ).findings
    refusing = [f for f in found if f.outcome != "passed" and _LATE not in f.evidence]
    if not refusing:
        return ""
    worst = refusing[0]
    return f"check: {worst.outcome} {worst.check}: {worst.evidence[:200]}"


def _tried(sandbox: Sandbox, attack: UnseenAttack, kind: str) -> tuple[bool, str]:
    """True if it comes to nothing in play, with the reason; void matches count for nothing."""
    try:
        return _TRIALS[kind](sandbox, attack)
    except VoidResultError as error:
        return True, str(error)[:300]


def _guesses(sandbox: Sandbox, attack: UnseenAttack) -> tuple[bool, str]:
    specs = [_PLAYER, attack.against]
    series = _played(sandbox, attack, specs, _MATCHES)
    right, asked = _right(series, attack)
    faults = [entry.reason for entry in series.entries.values() if entry.ending == "fault"]
    if len(faults) == _MATCHES and not asked:
        return True, f"no match counts: {faults[0][:200]}"
    return could_be_luck(right, asked), f"{right} of {asked} guesses right"


def could_be_luck(right: int, asked: int) -> bool:
    """True if so many right guesses are no rarer than one in a thousand.

    No guess at all shows nothing, and so is no luck: an attack is not held by not being tried.

    >>> could_be_luck(4, 12), could_be_luck(12, 12), could_be_luck(0, 0)
    (True, False, False)
    """
    if not asked:
        return False
    one = 1 / _RANKS
    tail = sum(comb(asked, n) * one**n * (1 - one) ** (asked - n) for n in range(right, asked + 1))
    return tail >= _RARE


def _right(series: Series, attack: UnseenAttack) -> tuple[int, int]:
    """Right guesses and guesses; a round is two cards dealt and two calls."""
    right = asked = 0
    for index, entry in series.entries.items():
        played = [action.split(" ") for action in entry.actions]
        words = [words[1] for words in played if words[0] in ("deal", "call")]
        for seat, who in enumerate(series.seated(index)):
            counts = seat in attack.seats and (who == 0 or attack.against == _PLAYER)
            for at in range(4 * attack.first_round, len(words) - 3, 4) if counts else ():
                if attack.own and words[at + seat][0] not in attack.own:
                    continue
                aim = words[at + 3] if attack.aim == "call" else words[at + 1 - seat][0]
                asked += 1
                right += words[at + 2 + seat] == aim
    return right, asked


def _played(sandbox: Sandbox, attack: UnseenAttack, specs: list[str], matches: int) -> Series:
    game = GameSetup(attack.name, attack.source, 2)
    return play_series(
        game,
        specs,
        PlayerRoster(),
        SeriesSettings(matches=matches, seed=attack.seed),
        sandbox=sandbox,
    )


def _size(sandbox: Sandbox, attack: UnseenAttack) -> tuple[bool, str]:
    series = _played(sandbox, attack, ["random", "random"], 4)
    size = sum(len(canonical_key(e.model_dump(mode="json"))) for e in series.entries.values())
    return size <= _TIMES * _HONEST_BYTES, f"{size} bytes of journal, {dict(series.endings)}"


def _margin(sandbox: Sandbox, attack: UnseenAttack) -> tuple[bool, str]:
    del sandbox  # the command makes its own
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "peek.py"
        module.write_text(attack.source, encoding="utf-8")
        command = [sys.executable, "-m", "app.cli", "play", str(module), "--opponent", "random"]
        done = subprocess.run(
            command, input="1\n2\n", capture_output=True, text=True, timeout=_PLAY_S, check=False
        )
    lines = findall(attack.forged, done.stdout, MULTILINE) if attack.forged else []
    return bool(done.stdout) and not lines, f"{len(lines)} forged lines at the margin"


_TRIALS = {"told": _guesses, "watched": _guesses, "size": _size, "text": _margin}


MATCHES = 40
_GUESSES = 120
MOST_GAIN = 0.2  # share that a module may win more than its honest twin
MOST_RIGHT = 32  # of 40 coins; chance gives 20
MOST_UNASKED_S = 0.005  # in all, after five answers
_ANSWERS, _GAP_S = 5, 0.1
_CLOCKS = 7  # that a worker reads
_LATE_S = 0.06  # more than a busy machine delays most answers
_ANSWERED = "0110100110010110"  # at once, or late
_SHOWN = 13  # of these 16; by chance as many come out in one of a hundred
_SPY = "ismcts:simulations=40"
_COIN = "uct:simulations=40,reuse=yes"
CHEATS: dict[str, str] = read_data("sandbox/cheats.yaml")
_CHANNELS = ("key_order", "numbers", "action_order")


def leaks_between_workers(backend: Backend, seed: int) -> list[Score]:
    """The information that each channel carries.

    Raises:
        EvalError: If a match did not finish.
    """
    with Sandbox(backend, preload=PRELOAD) as sandbox:
        honest = share_won(sandbox, CHEATS["spy"], _SPY, [seed])
        gains = [
            _score(one, share_won(sandbox, CHEATS["spy"] + CHEATS[one], _SPY, [seed]) - honest)
            for one in _CHANNELS
        ]
        small = range(seed, seed + MATCHES)  # seeds as people give them, a match of each
        called = round(share_won(sandbox, CHEATS["coin"], _COIN, small) * MATCHES)
        ran = unasked_seconds(sandbox)
        telling = clocks_that_tell(sandbox)
    return [
        *gains,
        Score("coins foreseen, of 40", called, MATCHES, at_most=MOST_RIGHT),
        Score("processor seconds without a request", ran, _ANSWERS, at_most=MOST_UNASKED_S),
        Score("clocks that tell when another worker answered", len(telling), _CLOCKS, at_most=0),
    ]


def share_won(sandbox: Sandbox, source: str, spec: str, seeds: Sequence[int]) -> float:
    """The first seat's mean return, which is the share of its guesses that are right.

    Args:
        sandbox: Where it is played.
        source: The game.
        spec: Both players.
        seeds: Of one match each; of many matches where there is one alone.

    Raises:
        EvalError: If a match did not finish.
    """
    game = GameSetup("cheat", source, 2)
    paid: list[float] = []
    for one in seeds:
        series = play_series(
            game,
            (spec, spec),
            PlayerRoster(),
            SeriesSettings(
                matches=1 if len(seeds) > 1 else _GUESSES,
                seed=one,
                replay=False,  # what a channel carries is measured, not whether it is found out
            ),
            sandbox=sandbox,
        )
        for entry in series.entries.values():
            if entry.returns is None:
                raise EvalError(f"a match of a cheat did not finish: {entry.reason}")
            paid.append(entry.returns[0])
    return sum(paid) / len(paid)


def unasked_seconds(sandbox: Sandbox) -> float:
    """Processor seconds that a worker takes while nothing is asked of it; 0 where it is ended.

    After its last answer it is asked once more: only then is it seen what it took before.

    Raises:
        UnreadableError: If the kernel does not count them.
    """
    taken = 0.0
    sandbox.worker("before", CHEATS["unasked"]).kill()
    with new_worker(sandbox, CHEATS["unasked"]) as (worker, pid):
        worker.call("arm", [_GAP_S])
        try:
            for _ in range(_ANSWERS):
                worker.call("spent")
                before = processor_s(pid)
                time.sleep(_GAP_S)
                taken += processor_s(pid) - before
            worker.call("spent")
        except ModuleFault:
            return 0.0
    return taken


def clocks_that_tell(sandbox: Sandbox) -> list[str]:
    """The clocks by which one worker sees whether another one answered at once or late."""
    source, shown = CHEATS["moment"], []
    with sandbox.loaded("sender", source) as sender, sandbox.loaded("receiver", source) as receiver:
        for late in "0" + _ANSWERED:
            sender.call("wait", [int(late) * _LATE_S])
            read = receiver.call("read")
            shown.append(read if isinstance(read, dict) else {})
    if len(shown[0]) != _CLOCKS:
        raise EvalError(f"a worker read {len(shown[0])} clocks; required: {_CLOCKS}")
    return [clock for clock in shown[0] if _tells([read.get(clock) for read in shown])]


def _tells(read: Sequence[Json]) -> bool:
    gone = [is_number(a) and is_number(b) and b - a > _LATE_S / 2 for a, b in pairwise(read)]
    right = sum(seen == (late == "1") for seen, late in zip(gone, _ANSWERED, strict=True))
    return right >= _SHOWN


def _score(channel: str, gain: float) -> Score:
    name = f"share gained by {channel.replace('_', ' ')}"
    return Score(name, gain, _GUESSES, at_most=MOST_GAIN)
