"""Steering: what a person fixes, corrects and answers goes before the words, in a chat too."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from langgraph.types import Command

from agents.composer import composer_roles
from agents.protocols import Brief, Choices, Clause, Design, Fit, NoFitError, RoleError
from games.library.settings import settings_chosen
from graph.new.opening import require_choices
from tests.graph.conftest import MakeContext
from tests.graph.new.test_chat import Chat
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL
from vectorstore.documents import Example

ASKING = SMALL.model_copy(update={"approve": True})


def test_a_correction_at_approval_overrides_the_earlier_words(make_context: MakeContext) -> None:
    chat = Chat(make_context(composer_roles(), ASKING))
    first = chat.say("a trick-taking game for three players with hearts as trumps")
    assert first["design"].num_players == 3
    second = chat.send(Command(resume="make it four players, and no trump"))
    assert (second["design"].num_players, second["design"].parameters["trump"]) == (4, "none")
    third = chat.send(Command(resume="five players"))
    assert (third["design"].num_players, third["design"].parameters["trump"]) == (5, "none")
    assert chat.send(Command(resume="no"))["reason"] == "the rulebook was not approved"


def test_an_undo_takes_back_one_change_after_the_other(make_context: MakeContext) -> None:
    chat = Chat(make_context(composer_roles(), ASKING))
    first = chat.say("a trick-taking game for three players with hearts as trumps")["design"]
    second = chat.send(Command(resume="make it four players"))["design"]
    assert chat.send(Command(resume="trump=none"))["design"].parameters["trump"] == "none"
    assert chat.send(Command(resume="dragons, please"))["design"].parameters["trump"] == "none"
    assert chat.send(Command(resume="undo that"))["design"] == second
    back = chat.send(Command(resume="back again, as it was"))
    assert back["design"] == first
    assert "num_players" in back["__interrupt__"][0].value["ask"]
    last = chat.send(Command(resume="undo"))
    assert last["design"] == first
    assert "no change to take back" in last["__interrupt__"][0].value["ask"]


def test_an_undo_of_a_revision_brings_the_game_before_back_without_asking_a_coder(
    make_context: MakeContext,
) -> None:
    roles = ScriptedRoles()
    chat = Chat(make_context(role_set(roles)))
    first = chat.say("noughts")
    assert chat.say("Nobody may pass.")["design"] != first["design"]
    asked = len(roles.calls)
    undone = chat.say("take back the last change")
    assert (undone["end"], undone["revision"], undone["design"]) == ("made", 2, first["design"])
    assert undone["evaluation"] == first["evaluation"]
    assert len(roles.calls) == asked


def test_after_a_correction_what_changed_is_shown_and_the_rulebook_on_demand(
    make_context: MakeContext,
) -> None:
    def shown(done: dict[str, Any]) -> str:
        return str(done["__interrupt__"][0].value["description"])

    chat = Chat(make_context(composer_roles(), ASKING))
    assert "## Rounds, and how it ends" in shown(chat.say("whist"))
    changed = shown(chat.send(Command(resume="no, hearts are trumps")))
    assert "R8 (changed)" in changed
    assert "## Rounds, and how it ends" not in changed
    assert "No rule has changed" in shown(chat.send(Command(resume="dragons, please")))
    assert "## Rounds, and how it ends" in shown(chat.send(Command(resume="show me the rulebook")))
    assert "R5 (changed)" in shown(chat.send(Command(resume="hand_size=7")))


def test_choices_are_an_input_of_the_graph_for_one_game(make_context: MakeContext) -> None:
    chat = Chat(make_context(composer_roles(), ASKING))
    chosen = Choices(family="goofspiel", num_players=3, settings={"cards": 4})
    first = chat.send(
        {"messages": [("user", "a bidding game for two")], "choices": chosen.model_dump()}
    )
    assert (first["design"].family, first["design"].num_players) == ("goofspiel", 3)
    assert first["design"].parameters["cards"] == 4
    chat.send(Command(resume="no"))
    assert chat.say("tic tac toe")["design"].family == "tic_tac_toe"


class Picky(ScriptedRoles):
    """Makes nothing but the family that was chosen."""

    def design(self, brief: Brief, retrieve: Callable[[str], Sequence[Example]]) -> Design:
        if brief.choices.family != "tic_tac_toe":
            raise NoFitError("nothing fits", Fit(family="tic_tac_toe", kept=(), lost=("dice",)))
        return super().design(brief, retrieve)


@pytest.mark.parametrize("answer", ["yes", "Yes", "tic tac toe", "go on anyway"])
def test_a_refusal_for_want_of_a_fit_is_answered_by_going_on(
    make_context: MakeContext, answer: str
) -> None:
    chat = Chat(make_context(role_set(Picky()), ASKING))
    refused = chat.say("a dungeon with dice")
    assert (refused["end"], refused["fit"].family) == ("no_fit", "tic_tac_toe")
    done = chat.say(answer)
    assert done["folder"] == refused["folder"]
    assert (done["brief"].choices.family, done["brief"].prompt) == (
        "tic_tac_toe",
        "a dungeon with dice",
    )


def test_other_words_are_added_to_what_was_refused(make_context: MakeContext) -> None:
    chat = Chat(make_context(role_set(Picky())))
    chat.say("a dungeon with dice")
    again = chat.say("for two heroes")
    assert again["end"] == "no_fit"
    assert again["brief"].prompt == "a dungeon with dice\nfor two heroes"


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (Choices(family="chess"), "known: .*connect_four"),
        (Choices(family="goofspiel", num_players=6), "2 to 5 players"),
        (Choices(family="goofspiel", settings={"cards": 14}), "cards can be 2 to 13"),
        (Choices(family="goofspiel", settings={"trump": 1}), "Its settings: cards"),
        (Choices(settings={"no_such": 1}), "no family .*no_such: 1.*rulewright games.*goofspiel"),
        (Choices(num_players=40), "no family"),
    ],
)
def test_what_the_library_has_not_is_refused_with_what_it_has(choices: Choices, said: str) -> None:
    with pytest.raises(RoleError, match=said):
        require_choices(choices, settings=True)


def test_a_setting_chooses_among_the_families_that_the_words_point_to(
    make_context: MakeContext,
) -> None:
    chat = Chat(make_context(composer_roles(), ASKING))
    asked = {"messages": [("user", "five in a row")], "choices": {"settings": {"rows": 7}}}
    assert chat.send(asked)["design"].parameters["rows"] == 7


class Doubting(ScriptedRoles):
    """Is not sure of one demand until its setting is chosen."""

    def design(self, brief: Brief, retrieve: Callable[[str], Sequence[Example]]) -> Design:
        made = super().design(brief, retrieve)
        chosen = brief.choices.settings
        status = {"status": "honoured", "setting": "size=4"}
        if "size" not in chosen:
            status = {"status": "not_honoured", "reason": "no setting", "perhaps": "size=4"}
        clause = Clause.model_validate({"text": "four squares each way", **status})
        parameters = {"size": 3, **chosen}
        return made.model_copy(update={"clauses": (clause,), "parameters": parameters})


def test_what_may_have_been_meant_is_asked_where_a_person_is_there(
    make_context: MakeContext,
) -> None:
    context = replace(make_context(role_set(Doubting())), interactive=True)
    chat = Chat(context)
    (question,) = chat.say("noughts, four squares each way")["__interrupt__"]
    assert "size=4" in question.value["ask"]
    done = chat.send(Command(resume="size=4"))
    assert done["brief"].choices.settings == {"size": 4}
    assert done["brief"].corrections == ()


def test_what_may_have_been_meant_is_not_applied_without_a_person(
    make_context: MakeContext,
) -> None:
    done = Chat(make_context(role_set(Doubting()))).say("noughts, four squares each way")
    assert done["end"] == "made"
    assert done["design"].parameters == {"size": 3}


@pytest.mark.parametrize(
    ("answer", "settings"),
    [
        ("rows=5", {"rows": 5}),
        ("rows=5, misere=true gravity=no", {"rows": 5, "misere": True, "gravity": "no"}),
        ("make it rows=5", {}),
        ("no_such=5", {"no_such": 5}),
        ("rows=5, columns=7;connect=4", {"rows": 5, "columns": 7, "connect": 4}),
        ("rows=5, board=0,3,1,1", {"rows": 5, "board": "0,3,1,1"}),
        ("board=0,3,1,1,rows=5.", {"rows": 5, "board": "0,3,1,1"}),
        ("rows=5, five columns", {}),
        ("five rows", {}),
    ],
)
def test_an_answer_of_pairs_alone_chooses_settings(answer: str, settings: dict[str, Any]) -> None:
    assert settings_chosen(answer) == settings


def test_settings_that_cannot_be_leave_the_run_waiting_and_are_each_named(
    make_context: MakeContext,
) -> None:
    chat = Chat(make_context(composer_roles(), ASKING))
    before = chat.say("rummy for three")["design"]
    refused = chat.send(Command(resume="wild_rank=99, knock_limit=999, hand_size=5"))
    (question,) = refused["__interrupt__"]
    assert "wild_rank=99: " in question.value["ask"]
    assert "knock_limit=999: " in question.value["ask"]
    assert refused["design"] == before
    changed = chat.send(Command(resume="wild_rank=7, num_players=4"))
    assert changed["design"].parameters == {**before.parameters, "wild_rank": "7"}
    assert changed["design"].num_players == 4


@pytest.mark.parametrize("rank", ["7", 7])
def test_a_rank_of_digits_is_chosen_however_it_is_written(rank: str | int) -> None:
    roles = composer_roles()
    chosen = Choices(family="rummy", settings={"wild_rank": rank})
    brief = roles.designer.clarify("").model_copy(update={"choices": chosen})
    assert roles.designer.design(brief, lambda _: ()).parameters["wild_rank"] == "7"
