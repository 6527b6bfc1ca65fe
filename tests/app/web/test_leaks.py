"""A seat is sent what it may know and nothing else, byte for byte.

Two tables play the same game with another hidden part: other cards dealt to others, other bids laid
face down, other ships placed. As long as the game's own `visible` shows a seat no difference, every
answer and every event to it must have the same bytes. Whoever looks on must be sent the same as
long as no seat's difference is open to all.
"""

import json
import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from app.web.keeping import Wanted
from app.web.playing import WebTable
from app.web.server import Web
from app.web.views import Beholder
from games import library
from games.checks.zones import concrete_paths, read_path, sight_of
from games.contract import Game
from games.engine import Effort, Ply
from games.modules import LocalModule
from games.values import CHANCE, TERMINAL, Observation
from tests.app.web.browser import Browser, serving
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

GAMES = {
    "leduc_poker": 2,
    "goofspiel": 2,
    "battleship": 2,
    "go_fish": 3,
    "hearts": 4,
    "small_capture_the_flag": 2,
    "the_crew": 3,
}
WATCH = "watch"
ANSWERS = int(os.environ.get("AUDITED", "8"))  # that are compared of a match; there are two or more
LONGEST, EVERY = 100, 3  # plies that are followed; decisions from one comparison to the next
OFTEN = 0.15  # of the plies at which the hidden part is exchanged


@dataclass
class Twins:
    """Two states of one game that a seat cannot tell apart, played on together.

    Attributes:
        game: The game.
        seats: How many play.
        seat: The seat that must not tell them apart; `WATCH` for whoever looks on.
        states: Both.
        chosen: Draws what is played.
        plies: What was played in each.
    """

    game: Game
    seats: int
    seat: int | str
    chosen: random.Random
    states: list[Any] = field(default_factory=list)
    plies: tuple[list[Ply], list[Ply]] = field(default_factory=lambda: ([], []))

    def view(self, state: Any) -> object:  # noqa: ANN401 - a state
        """What `visible` and `GAME["open"]` show the seat; or of whoever looks on, all seats."""
        zones: Any = self.game.module.constant("ZONES")
        opened: Any = self.game.info.get("open", [])
        shown = {path: read_path(state, path) for path in concrete_paths(state, *opened)}
        seats = range(self.seats) if isinstance(self.seat, str) else [self.seat]
        sights = [sight_of(state, self.game.visible(state, seat), zones).shown for seat in seats]
        common = {p: v for p, v in sights[0].items() if all(s.get(p) == v for s in sights)}
        return json.dumps([shown, common, self.game.current_player(state)], sort_keys=True)

    def told(self, state: Any, action: str) -> object:  # noqa: ANN401 - a state
        events = self.game.events(state, action, self.seats)
        if isinstance(self.seat, int):
            return events[self.seat]
        return events[0] if all(one == events[0] for one in events) else []

    def step(self) -> bool:
        """Play a ply of both, now and then another one in each, so that the seat cannot tell.

        Where it would be told of the difference, the second goes on as the first one. False at the
        end.
        """
        player = self.game.current_player(self.states[0])
        if player == TERMINAL:
            return False
        if not any(map(self.goes_on, self.pairs(player))):
            self.states[1] = self.states[0]
            self.plies[1][:] = self.plies[0]
            assert any(map(self.goes_on, self.pairs(player)))
        return True

    def pairs(self, player: int) -> list[tuple[str, str]]:
        """Actions to try in both, in this order."""
        one, other = (self.game.legal_actions(state) for state in self.states)
        apart = [(self.chosen.choice(one), self.chosen.choice(other)) for _ in range(20)]
        apart = apart if player != self.seat else []
        same = [(action, action) for action in one if action in other]
        self.chosen.shuffle(same)
        is_exchanged = self.chosen.random() < OFTEN
        return [*(apart[:8] if is_exchanged else ()), *same[:12], *apart]

    def goes_on(self, pair: tuple[str, str]) -> bool:
        """Play a pair of actions, where the seat cannot tell one from the other."""
        after = [self.game.apply_action(s, a) for s, a in zip(self.states, pair, strict=True)]
        if self.view(after[0]) != self.view(after[1]):
            return False
        if self.told(self.states[0], pair[0]) != self.told(self.states[1], pair[1]):
            return False
        player = self.game.current_player(self.states[0])
        events, rewards = tuple(() for _ in range(self.seats)), (0.0,) * self.seats
        for plies, state, action in zip(self.plies, self.states, pair, strict=True):
            legal = (*self.game.legal_actions(state),)
            plies.append(Ply(player, None, legal, action, rewards, events, Effort(), {}))
        self.states = after
        return True


def twins(name: str, seats: int, seat: int | str, seed: int) -> Twins:
    game = Game(LocalModule(library.source(name)))
    made = Twins(game, seats, seat, random.Random(seed))
    made.states = [game.initial_state(seats, dict(library.preset(name).parameters))] * 2
    return made


def laid(browser: Browser, name: str, seats: int, plies: list[Ply]) -> WebTable:
    """A table whose journal holds some plies, as if a stopped server had played them."""
    parameters = dict(library.preset(name).parameters)
    setup = GameSetup(name, library.source(name), seats, parameters, {})
    names = [f"Player {n + 1}" for n in range(seats)]
    wanted = Wanted(name, setup, None, [None] * seats, names, 7, local=False)
    return browser.web.tables.lay(wanted, plies)


def sent(browser: Browser, table: WebTable, seat: int | str) -> list[str]:
    """All that a seat is sent of a moment, without what names the table and its links."""
    link = browser.web.tables.link(table.kept.id, seat)
    while table.ready().turn is None:
        time.sleep(0.01)
    bodies = [
        browser.get(link).text,
        browser.part(link),
        told(browser.get(f"{link}/events").text),
        browser.get(f"{link}/rules").text,
    ]
    names = {link: "LINK", table.kept.id: "TABLE"}
    for name, word in names.items():
        bodies = [body.replace(name, word) for body in bodies]
    return bodies


def told(stream: str) -> str:
    """A stream without the comments by which it is kept open: how many there are, a clock says."""
    return "\n".join(line for line in stream.splitlines() if line and not line.startswith(":"))


def audited(browser: Browser, name: str, seats: int, seat: int | str, seed: int) -> Iterator[str]:
    """For each answer how it differs at two tables that differ in what is hidden; "" where not."""
    both = twins(name, seats, seat, seed)
    decisions = 0
    while len(both.plies[0]) < LONGEST and both.step():
        if both.states[0] == both.states[1] or both.game.current_player(both.states[0]) in (
            CHANCE,
            TERMINAL,
        ):
            continue
        decisions += 1
        if decisions % EVERY != 1:
            continue
        tables = [laid(browser, name, seats, plies) for plies in both.plies]
        one, other = (sent(browser, table, seat) for table in tables)
        moments = [table.shown.position for table in tables]
        assert [at and at.state for at in moments] == both.states
        for before, after in zip(one, other, strict=True):
            old, new = (text.replace(">", ">\n").splitlines() for text in (before, after))
            yield "\n".join(unified_diff(old, new, n=1, lineterm=""))
        for table in tables:
            table.close()


@pytest.mark.parametrize("looks", ["seat", WATCH])
@pytest.mark.parametrize("name", GAMES)
def test_no_answer_tells_a_seat_what_is_hidden_from_it(
    browser: Browser, name: str, looks: str
) -> None:
    seats, found = GAMES[name], list[str]()
    for seed in range(20):
        seat = (seats - 1 - seed) % seats if looks == "seat" else WATCH
        found += islice(audited(browser, name, seats, seat, seed), ANSWERS)
        if len(found) >= 2 * ANSWERS:
            break
    assert len(found) >= 2 * ANSWERS
    assert "".join(found) == ""


class Peeping(Beholder):
    """A planted leak: every seat's view is also its neighbour's."""

    def _observation(self, shown: Any) -> Observation:  # noqa: ANN401 - a moment
        seen = super()._observation(shown)
        beside = shown.position.observations[((self.seat or 0) + 1) % len(shown.looks)]
        return {**seen, "beside": beside.get("hand", beside)}


class Leaking(Web):
    def beholder(self, table: WebTable, seat: int | None) -> Beholder:
        return table.beholders.setdefault(seat, Peeping(table, seat))


@pytest.mark.parametrize("name", ["leduc_poker", "hearts"])
@pytest.mark.parametrize("seat", [0, WATCH])
def test_a_planted_leak_is_found(sandbox: Sandbox, runs: Path, name: str, seat: int | str) -> None:
    with serving(sandbox, runs, kind=Leaking) as browser:
        assert any(audited(browser, name, GAMES[name], seat, 0))
