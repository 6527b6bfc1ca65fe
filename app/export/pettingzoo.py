"""A game as an environment of PettingZoo: its agents act one after another (AEC).

Exported files import `GameEnv` and `with_wrappers` from here.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from agents.encoding.protocol import Array
from app.export.exported import ExportError
from app.export.kit import GameKit, KitTable, kit_of
from app.table.layout import SeatLayout, Setting
from games.engine import sample_index
from games.information import SeatLog, tell_seats
from games.streams import drawn_seed, stream
from games.table import Position
from games.values import CHANCE, TERMINAL

_ILLEGAL = -1.0  # what a seat gets that takes an illegal action


class GameEnv(AECEnv):  # type: ignore[misc]  # PettingZoo has no types
    """One match after another of an exported game, in a sandboxed worker.

    An observation has "observation", an array of all that is new to the seat since its last turn,
    and "action_mask". `infos` has "legal", the words of the legal actions in the order of their
    numbers, "unseen", how many of them self-play had not shown, and "unknown", how many values of
    the array stand for what it had not shown. A seat that is not to move has none of these.

    Attributes:
        kit_told: The kit, as a file holds it.
        possible_agents: "player_0" and so on, by seat.
    """

    kit_told: ClassVar[Mapping[str, Any]]

    def __init__(self, render_mode: str | None = None, max_cycles: int | None = None) -> None:
        """Start nothing yet.

        Args:
            render_mode: "ansi" for text by `render`, or None.
            max_cycles: Decisions of one seat after which a match is left as truncated.
        """
        super().__init__()
        self.kit: GameKit = kit_of(self.kit_told)
        if render_mode not in (None, "ansi"):
            raise ExportError(f"render_mode is {render_mode!r}; required: 'ansi', or None")
        self.render_mode, self.max_cycles = render_mode, max_cycles
        self.metadata = {
            "name": f"rulewright_{self.kit.name}",
            "render_modes": ["ansi"],
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self.kit.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: self._space() for agent in self.possible_agents}
        self.action_spaces = {
            agent: gymnasium.spaces.Discrete(self.kit.size) for agent in self.possible_agents
        }
        self._table = KitTable(self.kit)
        self._seed, self._match = drawn_seed(), -1

    def _space(self) -> gymnasium.spaces.Dict:
        numbers = gymnasium.spaces.Box(-1.0, 1.0, (self.kit.encoder.width,), np.float32)
        mask = gymnasium.spaces.Box(0, 1, (self.kit.size,), np.int8)
        return gymnasium.spaces.Dict({"observation": numbers, "action_mask": mask})

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """See `AECEnv.observation_space`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """See `AECEnv.action_space`."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Open a match; the same seed and the same actions give the same match."""
        del options
        if seed is not None:
            self._seed, self._match = seed, -1
        self._match += 1
        self._chance = stream(self._seed, "pettingzoo", match=self._match)
        self.agents = [*self.possible_agents]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._decisions = dict.fromkeys(self.agents, 0)
        self._skip_agent_selection = None
        self._logs = [SeatLog(seat) for seat in range(self.kit.num_players)]
        self._setting = Setting(self.kit.num_players)
        self.agent_selection = self.agents[0]
        self._meet(self._table.open())

    def observe(self, agent: str) -> dict[str, Any]:
        """See `AECEnv.observe`; the mask of a seat that is not to move is zero."""
        seat = self._seats[agent]
        array, _ = self._encoded(seat)
        mask = np.zeros(self.kit.size, np.int8)
        if seat == self._position.player:
            mask[[*self._numbers]] = 1
        return {"observation": array.copy(), "action_mask": mask}

    def _encoded(self, seat: int) -> tuple[Array, int]:
        if seat not in self._arrays:
            self._arrays[seat] = self.kit.encoded(seat, self._logs[seat].entries)
        return self._arrays[seat]

    def step(self, action: int | None) -> None:
        """See `AECEnv.step`.

        Raises:
            ExportError: If the action is not legal.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        word = self._numbers.get(-1 if action is None else int(action))
        if word is None:
            legal = ", ".join(f"{number} ({word})" for number, word in self._numbers.items())
            raise ExportError(f"action {action} is not legal for {agent}; legal are: {legal[:500]}")
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        self._logs[self._seats[agent]].act(word)
        self._decisions[agent] += 1
        self._meet(self._table.advance(self._position, word))

    def _meet(self, position: Position) -> None:
        """Play chance up to the next decision, and tell the seats."""
        while True:
            tell_seats(self._logs, position.observations, position.events)
            for agent, paid in zip(self.possible_agents, position.rewards, strict=True):
                self.rewards[agent] += paid
            if position.player != CHANCE:
                break
            drawn = sample_index(position.probabilities, float(self._chance.random()))
            position = self._table.advance(position, position.legal[drawn])
        self._position, self._numbers = position, self.kit.numbered(position.legal)
        self._arrays: dict[int, tuple[Array, int]] = {}
        self._accumulate_rewards()
        self.infos = {agent: self._info(agent) for agent in self.agents}
        if position.player == TERMINAL:
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            if self.max_cycles is not None and max(self._decisions.values()) >= self.max_cycles:
                self.truncations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.possible_agents[position.player]
        if position.player == TERMINAL or self.truncations[self.agent_selection]:
            self._deads_step_first()

    def _info(self, agent: str) -> dict[str, Any]:
        seat = self._seats[agent]
        if seat != self._position.player:
            return {"legal": [], "unseen": 0, "unknown": 0}
        legal = [*self._numbers.values()]
        unseen = sum(word not in self.kit.number for word in legal)
        return {"legal": legal, "unseen": unseen, "unknown": self._encoded(seat)[1]}

    def render(self) -> str | None:
        """The table as text, as the seat sees it that is to move; None without a `render_mode`."""
        if self.render_mode is None:
            return None
        seat = self._seats[self.agent_selection]
        layout = SeatLayout(self._setting, seat)
        return "\n".join(layout.draw(self._logs[seat].latest(), [*self._numbers.values()]))

    def close(self) -> None:
        """End the sandbox; the environment is of no more use."""
        self._table.close()


def with_wrappers(env: GameEnv) -> Any:  # noqa: ANN401 - PettingZoo has no types
    """An environment with PettingZoo's usual wrappers: an illegal action ends and loses a match."""
    safe = wrappers.TerminateIllegalWrapper(env, illegal_reward=_ILLEGAL)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(safe))
