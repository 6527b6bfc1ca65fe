"""The player that is a language model: it is told its seat's view in words and names an action.

The log and the legal actions are all that is told, as turns; no state is ever at hand here.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from agents.model.budget import Usage
from agents.players.specs import PlayerSpecError, Seating
from agents.prompting import inert, load_prompt
from agents.search.settings import NoYes, PlayerSettings, When
from games.engine import Decision, Effort, Learned, PlayerFault
from games.information import Did, SeatLog, SeatTurn, seat_turns
from games.streams import ply_of
from games.text import is_plain_line, plain_text
from games.values import Action, Json, Observation
from tools.playtest.jobs import PlayerSpec
from tools.sources import find_rulebook

LLM = "llm"
Style: TypeAlias = Literal["cot", "react", "reflexion", "belief"]
_NAME, _ECHO, _THOUGHT, _LESSON, _CAUSE = 200, 4_000, 600, 1_000, 400  # characters at the most
_TOLD = 12_000  # characters of earlier turns; and of events since the seat last acted
_QUOTED = 120
_MARKS = " \t*_`'\".#>-"  # that a model may set around its action


class LlmSettings(PlayerSettings):
    """Settings of a player that is a model."""

    style: Style = Field(
        default="cot",
        description="cot: reasons step by step; react: goes on from its earlier thoughts; "
        "reflexion: react with lessons from earlier deals; belief: says what is hidden first.",
    )
    model: str = Field(default="", description="Its name, as the endpoint knows it; required.")
    history: int = Field(
        default=5, ge=0, le=100, description="Earlier turns of its own that it is told."
    )
    legal: NoYes = Field(default="yes", description="Whether the legal actions are listed.")
    rethinks: int = Field(
        default=2, ge=0, le=10, description="Tries after an answer that is no legal action."
    )
    lessons: Annotated[int, When("style", ("reflexion",))] = Field(
        default=3, ge=1, le=20, description="Newest reflections that it is told."
    )

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
        self.match, self.seat, game = at.match, at.seat, at.game
        style = self.settings.style
        self.way = load_prompt(f"player_{'react' if style == 'reflexion' else style}")
        self.always: dict[str, object] = {
            "seat": at.seat,
            "players": game.num_players,
            "rules": game.opened().rules
            if game.environment
            else find_rulebook(game.name, game.parameters, game.num_players),
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
                action, thought = named_action(reply, legal)
            except NoMoveError as error:
                problems.append(str(error))
                again = load_prompt("player_again").fill(
                    problem=str(error), listed=is_listed, left=left - 1
                )
                said = {"role": "assistant", "content": reply[-_ECHO:] or "(nothing)"}
                prompt = [*prompt, said, {**again[0], "role": "user"}]
                continue
            number = sum(isinstance(entry, Did) for entry in log.entries)
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

    def learn(self, returns: Sequence[float] | None) -> Learned:
        """See `games.engine.Learner.learn`; only reflexion reflects.

        Raises:
            ModelError: If the endpoint brings no reply, or the budget is spent.
        """
        lesson = ""
        if self.settings.style == "reflexion" and returns is not None and self.log.entries:
            prompt = load_prompt("player_reflect").fill(
                **self.always,
                history=turns_text(seat_turns(self.log.entries), self.thoughts),
                scores=[f"{paid:g}" for paid in returns],
            )
            lesson = plain_text(self._ask("reflect", 0, prompt)).strip()[:_LESSON]
        return lesson, self._spent()

    def close(self) -> None:
        """Nothing to release: others at the endpoint go on."""

    def _told(self, log: SeatLog, legal: Sequence[Action], is_listed: bool) -> dict[str, object]:
        *before, now = seat_turns(log.entries)
        first = max(0, len(before) - self.settings.history)
        thoughts = self.thoughts if self.settings.style != "cot" else {}
        return {
            "way": self.way.system.strip(),
            "history": turns_text(before[first:], thoughts, first=first),
            "turn": len(before) + 1,
            "observation": json_text(now.observation),
            "events": newest_of(now.events, "events"),
            "listed": is_listed,
            "legal": legal if is_listed else (),
        }

    def _ask(self, about: str, number: int, prompt: Sequence[dict[str, str]]) -> str:
        """One reply; what it used is kept until it is reported."""
        where = f"match/{self.match}/{about}/seat/{self.seat}/try/{number}"
        reply, spent = self.models.ask(where, self.settings.model, prompt)
        self.unreported += spent
        return reply

    def _spent(self) -> Effort:
        """The use since the last report."""
        spent, self.unreported = self.unreported, Usage()
        return self.models.effort(spent)

    def _effort(self, rethinks: int) -> Effort:
        more: dict[str, Json] = {
            "prompt": f"{load_prompt('player').version}.{self.way.version}",
            "rules": "rulebook" if self.always["rules"] else "none",
            "rethinks": rethinks,
        }
        return replace(self._spent(), algorithm=LLM, more=more)


class NoMoveError(ValueError):
    """A reply names no legal action; the message says what it does instead."""


def turns_text(turns: Sequence[SeatTurn], thoughts: Mapping[int, str], *, first: int = 0) -> str:
    """Turns as a prompt tells them, within a bound; the oldest are left out, and it says so.

    Args:
        turns: Oldest first.
        thoughts: What the player wrote before it acted, by number of the turn, from 0.
        first: Number of the first of `turns`.
    """
    blocks = []
    for number, turn in enumerate(turns, first):
        lines = [f"Turn {number + 1}", *(f"- {event}" for event in turn.events)]
        lines.append(f"you saw: {json_text(turn.observation)}")
        if thoughts.get(number):
            lines.append(f"you wrote: {thoughts[number]}")
        if turn.action is not None:
            lines.append(f"you did: {turn.action}")
        blocks.append("\n".join(lines))
    return newest_of(blocks, "turns", "\n\n")


def newest_of(parts: Sequence[str], what: str, between: str = "\n") -> str:
    r"""The last of the parts that a prompt has room for; at least one, and what is missing.

    >>> newest_of(["a" * 9_000, "b" * 9_000, "c"], "events")[:40]
    '[1 earlier events left out]\nbbbbbbbbbbbb'
    """
    size, kept = 0, list[str]()
    for part in reversed(parts):
        size += len(part)
        if kept and size > _TOLD:
            break
        kept.insert(0, part)
    missing = len(parts) - len(kept)
    left_out = [f"[{missing} earlier {what} left out]"] if missing else []
    return between.join([*left_out, *kept])


def json_text(observation: Observation) -> str:
    """An observation as JSON in one line."""
    return json.dumps(observation, ensure_ascii=False, separators=(",", ":"))


def named_action(reply: str, legal: Sequence[Action]) -> tuple[Action, str]:
    r"""The legal action that a reply names, and what was written before it.

    The last line that begins with ACTION: counts; a reply that is nothing but a legal action is
    one too. An action is taken letter by letter, as it is or as a prompt shows it, with or without
    marks around it. Nothing else is guessed.

    Raises:
        NoMoveError: If it names none, or one that is not legal.

    >>> named_action("I hold the king.\n**ACTION:** `raise`", ["fold", "raise"])
    ('raise', 'I hold the king.')
    """
    forms = Counter(map(inert, legal))
    known = {inert(action): action for action in legal if forms[inert(action)] == 1}
    known |= {action: action for action in legal}
    lines = reply.splitlines()
    for number in reversed(range(len(lines))):
        head, colon, said = lines[number].partition(":")
        if colon and head.strip(_MARKS).casefold() == "action":
            said = said.strip()
            for form in (said, said.strip(_MARKS)):
                if form in known:
                    return known[form], "\n".join(lines[:number]).strip()
            raise NoMoveError(f"{said[:_QUOTED]!r} is not a legal action now")
    if (whole := reply.strip()) in known:
        return known[whole], ""
    raise NoMoveError(f"no line begins with 'ACTION:'; the answer ends {whole[-_QUOTED:]!r}")
