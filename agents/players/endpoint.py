"""The endpoint that all players of a command share: one client, one budget, one recording."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from agents.model.budget import Budget, Usage, spent_before
from agents.model.chat import ChatModel, Message, build_chat
from agents.model.errors import ModelError
from agents.model.recording import current_place, place
from agents.model.replies import beyond_thought
from agents.model.settings import ModelSettings, SettingsError
from agents.model.waiting import Hear, listening
from games.engine import Effort
from games.values import Json

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage


class _PlacedBudget(Budget):
    """A budget that also counts what each place used, in replies: a replay has the same."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(settings, spent_before(settings))
        self.places: dict[str, Usage] = {}

    def settle(self, prompt_tokens: int, used: Usage, role: str = "") -> None:
        """See `Budget.settle`."""
        super().settle(prompt_tokens, used, role)
        if used.calls > used.failed_calls:
            replied = replace(used, calls=1, failed_calls=0)
            self.places[current_place()] = self.places.get(current_place(), Usage()) + replied


class ModelTable:
    """The client and budget that players share; safe to use from several threads.

    Attributes:
        settings: Of the endpoint; each request names its player's own model.
        hear: Is told whom a player waits for; None for nobody.
    """

    def __init__(self, settings: ModelSettings, chat: ChatModel, budget: _PlacedBudget) -> None:
        self.settings = settings
        self._chat = chat
        self._budget = budget
        self._failure: ModelError | None = None
        self.hear: Hear | None = None

    @classmethod
    def opened(cls, settings: ModelSettings, models: Collection[str]) -> Self:
        """Get ready to ask models; nothing is sent yet.

        Args:
            settings: The endpoint and the bounds, as the environment sets them; their own model is
                not used.
            models: Every name that will be asked.

        Raises:
            SettingsError: If no endpoint is set.
            RecordingError: If the recording cannot be read.
        """
        names = " and ".join(sorted(models))
        if not (settings.base_url or settings.api_key or settings.replay):
            raise SettingsError(
                f"there is no endpoint to ask for {names}: set OPENAI_API_KEY, or OPENAI_BASE_URL "
                "for a server of your own"
            )
        settings = settings.model_copy(update={"model": names})
        budget = _PlacedBudget(settings)
        chat = build_chat(settings, budget=budget, label=f"recorded by players that ask {names}")
        return cls(settings, chat.of_role("player"), budget)

    def ask(self, where: str, model: str, messages: Sequence[Message]) -> tuple[str, Usage]:
        """One reply, as text, and what was used for it.

        Args:
            where: The place of the call, of its own: match, ply, seat and try.
            model: Who is asked.
            messages: The whole conversation.

        Raises:
            ModelError: If no reply can be had. It is raised for every later call too, so that
                matches beside this one end soon.
        """
        if self._failure is not None:
            raise self._failure
        try:
            with place(where), listening(self.hear):
                text = self._chat.ask(messages, _text, model=model)
        except ModelError as error:
            self._failure = error
            raise
        return text, self._budget.places.pop(where)

    def effort(self, spent: Usage) -> Effort:
        """The use of the endpoint, as a decision reports it; dollars by the configured prices."""
        return Effort(
            model_calls=spent.calls,
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            dollars=self.settings.cost(spent.tokens_in, spent.tokens_out),
            estimated_calls=spent.estimated_calls or None,
        )

    def about(self) -> dict[str, Json]:
        """The settings that decide the replies besides the players' own."""
        shown = self.settings.effective()
        return {name: shown[name] for name in ("model", "base_url", "temperature")}

    def __str__(self) -> str:
        bounds = f"{self.settings.max_calls:,} calls, {self.settings.max_tokens:,} tokens"
        return (
            f"players ask {self.settings.model}, in this command at most {bounds} "
            "(RULEWRIGHT_MAX_CALLS and its kind)"
        )


def _text(reply: "AIMessage") -> str:
    return beyond_thought(str(reply.text))
