"""Reading the person's words out of a chat."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage


def prompt_of(messages: Sequence[AnyMessage], *, answering: str = "") -> str:
    """The newest human message as plain text; empty where there is none.

    Args:
        messages: The chat so far.
        answering: An earlier prompt that the newest message answers a question about.
    """
    human = [message for message in messages if isinstance(message, HumanMessage)]
    if not human:
        return answering
    text = human[-1].text.strip()
    return f"{answering}\n{text}".strip() if answering else text
