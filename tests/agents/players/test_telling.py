"""Reading an action from a model's reply: letter by letter, and nothing guessed."""

import pytest

from agents.players.llm import NoMoveError, named_action

LEGAL = ["play 9H", "pass", "say 'yes'", "<b>", "&lt;/b>", "</b>"]


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("ACTION: pass", "pass"),
        ("I think.\n\n**Action:** `play 9H`.", "play 9H"),
        ("> **ACTION: pass**", "pass"),
        ("action : pass\n", "pass"),
        ("ACTION: pass\nNo, better:\nACTION: play 9H\n", "play 9H"),
        ("ACTION: say 'yes'", "say 'yes'"),
        ("pass", "pass"),
        (" play 9H\n", "play 9H"),
        ("ACTION: <b>", "<b>"),
    ],
)
def test_the_last_action_line_is_the_move(reply: str, action: str) -> None:
    assert named_action(reply, LEGAL)[0] == action


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "no line begins with 'ACTION:'"),
        ("I pass.", "the answer ends 'I pass.'"),
        ("My action is pass", "no line"),
        ("ACTION: play 9h", "'play 9h' is not a legal action"),
        ("ACTION: play", "'play' is not"),
        ("ACTION: pass or play 9H", "is not a legal"),
        ("ACTION: pass\nACTION: fold", "'fold' is not"),
        ("ACTION:", "'' is not"),
        ("\n" * 100_000 + " \t*_-" * 100_000, "no line"),
        ("ACTION: \ud800", "is not a legal action"),
    ],
)
def test_whatever_is_no_legal_action_is_no_move(reply: str, problem: str) -> None:
    with pytest.raises(NoMoveError, match=problem):
        named_action(reply, LEGAL)


def test_two_actions_that_a_prompt_shows_alike_are_told_apart_or_refused() -> None:
    # "</b>" is shown as "&lt;/b>", which is an action of its own: that one is meant.
    assert named_action("ACTION: &lt;/b>", LEGAL)[0] == "&lt;/b>"
    with pytest.raises(NoMoveError):
        named_action("ACTION: &lt;/i>", ["</i>", "\uff1c/i>"])
