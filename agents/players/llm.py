"""The player that is a language model: it is told its seat's view in words and names an action."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from agents.model.budget import Usage
from agents.players import telling
from agents.players.specs import PlayerSpec, PlayerSpecError, Seating
from agents.prompting import load_prompt
from agents.search.settings import NoYes, PlayerSettings, When
from games.contract import Action, Json
from games.engine import Decision, PlayerFault
from games.information import SeatLog
from games.streams import ply_of
from games.text import is_plain_line, plain_text
from tools.sources import find_rulebook

LLM = "llm"
Style: TypeAlias = Literal["cot", "react", "reflexion", "belief"]
_NAME, _ECHO, _THOUGHT, _LESSON, _CAUSE = 200, 4_000, 600, 1_000, 400  # characters at the most


class LlmSettings(PlayerSettings):
    """Settings of a player that is a model."""

    style: Annotated[
        Style,
        Field(
            description="cot: reasons step by step; react: goes on from its earlier thoughts; "
            "reflexion: react with lessons from earlier deals; belief: says what is hidden first."
        ),
    ] = "cot"
    model: Annotated[str, Field(description="Its name, as the endpoint knows it; required.")] = ""
    history: Annotated[
        int, Field(ge=0, le=100, description="Earlier turns of its own that it is told.")
    ] = 5
    legal: Annotated[NoYes, Field(description="Whether the legal actions are listed.")] = "yes"
    rethinks: Annotated[
        int, Field(ge=0, le=10, description="Tries after an answer that is no legal action.")
    ] = 2
    lessons: Annotated[
        int,
        Field(ge=1, le=20, description="Newest reflections that it is told."),
        When("style", ("reflexion",)),
    ] = 3

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not 0 < len(self.model) <= _NAME or not is_plain_line(self.model):
            raise ValueError(
                f"model is {self.model[:40]!r}; required: model=NAME, as the endpoint knows it"
            )
        return self


class LlmPlayer:
    """Asks a model for each action and plays what it names: no move is ever put in its place."""

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Prepare what every prompt says.

        Raises:
            PlayerSpecError: If nobody opened an endpoint.
        """
        if at.models is None:
            raise PlayerSpecError("llm needs an endpoint: use it in match, tournament or play")
        self.settings = spec.part(LlmSettings)
        self.models = at.models
        self.match, self.seat = at.match, at.seat
        style = self.settings.style
        self.way = load_prompt(f"player_{'react' if style == 'reflexion' else style}")
        self.always: dict[str, object] = {
            "seat": at.seat,
            "players": at.num_players,
            "rules": at.environment().rules
            if at.environment
            else find_rulebook(at.game, at.parameters, at.num_players),
            "lessons": (),
        }
        self.thoughts: dict[int, str] = {}
        self.log = SeatLog(at.seat)
        self.unreported = Usage()

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; of one listed action the model is not asked.

        Raises:
            PlayerFault: If its last rethink still names no legal action.
            ModelError: If the endpoint brings no reply, or the budget is spent.
        """
        self.log = log
        is_listed = self.settings.legal == "yes"
        if is_listed and len(legal) == 1:
            return Decision(legal[0], self._effort(0))
        prompt = load_prompt("player").fill(**self.always, **self._told(log, legal, is_listed))
        problems: list[str] = []
        for left in range(self.settings.rethinks, -1, -1):
            reply = self._ask(f"ply/{ply_of(generator)}", len(problems), prompt)
            try:
                action, thought = telling.named_action(reply, legal)
            except telling.NoMoveError as error:
                problems.append(str(error))
                again = load_prompt("player_again").fill(
                    problem=str(error), listed=is_listed, left=left - 1
                )
                said = {"role": "assistant", "content": reply[-_ECHO:] or "(nothing)"}
                prompt = [*prompt, said, {**again[0], "role": "user"}]
                continue
            number = sum("action" in entry for entry in log.entries)
            self.thoughts[number] = thought[:_THOUGHT]
            return Decision(action, self._effort(len(problems)))
        told = "; ".join(f"{number}. {problem}" for number, problem in enumerate(problems, 1))
        raise PlayerFault(
            f"{LLM} with {self.settings.model} at seat {self.seat} named no legal action in "
            f"{len(problems)} tries: {plain_text(told)[:_CAUSE]}"
        )

    def recall(self, lessons: Sequence[str]) -> None:
        """See `games.engine.Learner.recall`."""
        if self.settings.style == "reflexion":
            self.always["lessons"] = tuple(lessons[-self.settings.lessons :])

    def learn(self, returns: Sequence[float] | None) -> tuple[str, dict[str, Json]]:
        """See `games.engine.Learner.learn`; only reflexion reflects.

        Raises:
            ModelError: If the endpoint brings no reply, or the budget is spent.
        """
        lesson = ""
        if self.settings.style == "reflexion" and returns is not None and self.log.entries:
            prompt = load_prompt("player_reflect").fill(
                **self.always,
                history=telling.turns_text(telling.seat_turns(self.log), self.thoughts),
                scores=[f"{paid:g}" for paid in returns],
            )
            lesson = plain_text(self._ask("reflect", 0, prompt)).strip()[:_LESSON]
        return lesson, self._spent()

    def close(self) -> None:
        """Nothing to release: others at the endpoint go on."""

    def _told(self, log: SeatLog, legal: Sequence[Action], is_listed: bool) -> dict[str, object]:
        *before, now = telling.seat_turns(log)
        first = max(0, len(before) - self.settings.history)
        thoughts = self.thoughts if self.settings.style != "cot" else {}
        return {
            "way": self.way.system.strip(),
            "history": telling.turns_text(before[first:], thoughts, first=first),
            "turn": len(before) + 1,
            "observation": telling.json_text(now.observation),
            "events": telling.newest_of(now.events, "events"),
            "listed": is_listed,
            "legal": legal if is_listed else (),
        }

    def _ask(self, about: str, number: int, prompt: Sequence[dict[str, str]]) -> str:
        """One reply; what it used is kept until it is reported."""
        where = f"match/{self.match}/{about}/seat/{self.seat}/try/{number}"
        reply, spent = self.models.ask(where, self.settings.model, prompt)
        self.unreported += spent
        return reply

    def _spent(self) -> dict[str, Json]:
        """What was used since the last report."""
        spent, self.unreported = self.unreported, Usage()
        return self.models.effort(spent)

    def _effort(self, rethinks: int) -> dict[str, Json]:
        asked: dict[str, Json] = {
            "algorithm": LLM,
            "prompt": f"{load_prompt('player').version}.{self.way.version}",
            "rules": "rulebook" if self.always["rules"] else "none",
        }
        return {**asked, "rethinks": rethinks, **self._spent()}
