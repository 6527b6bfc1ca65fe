"""The player that is a model: what it is told, what counts as a move, what it costs."""

import pytest

from agents.model.budget import BudgetExhaustedError
from agents.model.errors import EndpointError, MalformedReplyError, ModelError, RefusedRequestError
from agents.players.endpoint import ModelTable
from agents.players.registry import PlayerRoster, parse_spec
from agents.players.specs import PlayerSpecError
from games import library
from games.engine import PlayerFault
from games.information import Did, LogEntry, SeatLog, Seen
from tests.agents.model.endpoint import Answer, Step, error, message, serving
from tests.agents.model.talking import settings_for
from tests.agents.players.talking import LEGAL, LOG, asking, decided, part, take_first
from tests.agents.test_prompting import HOSTILE
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox
from tools.sources import environment_game

BET = message("The king wins.\nACTION: bet", usage=(900, 30))
LEDUC = GameSetup("leduc_poker", library.source("leduc_poker"), 2)


def test_a_legal_answer_is_played_as_it_is_with_what_it_cost() -> None:
    with asking(BET, price_in=2.0, price_out=10.0) as (player, endpoint):
        action, effort = decided(player)
    assert action == "bet"
    assert len(endpoint.requests) == 1
    cost = (900 * 2 + 30 * 10) / 1e6
    used = {"model_calls": 1, "tokens_in": 900, "tokens_out": 30, "dollars": cost, "rethinks": 0}
    assert effort.items() >= used.items()


def test_a_thought_before_the_answer_is_no_part_of_it() -> None:
    with asking(message("<think>ACTION: raise? No.</think>\n\nbet")) as (player, _):
        assert decided(player)[0] == "bet"


def test_an_illegal_answer_is_told_to_the_model_which_then_thinks_again() -> None:
    script = (message("ACTION: all in"), message("I would bet."), BET)
    with asking(*script) as (player, endpoint):
        action, effort = decided(player)
    assert (action, effort["rethinks"], effort["model_calls"]) == ("bet", 2, 3)
    first, second, third = (request["messages"] for request in endpoint.requests)
    assert second[:2] == third[:2] == first
    assert second[2] == {"role": "assistant", "content": "ACTION: all in"}
    assert "'all in' is not a legal action now" in second[3]["content"]
    assert "1 more try" in second[3]["content"]
    assert "no line begins with 'ACTION:'" in third[5]["content"]
    assert "This is your last try" in third[5]["content"]


@pytest.mark.parametrize(("rethinks", "tries"), [(2, 3), (0, 1)])
def test_after_the_last_rethink_the_seat_forfeits_with_its_cause(rethinks: int, tries: int) -> None:
    spec = f"llm:model=scripted,rethinks={rethinks}"
    with asking(message("ACTION: fold"), spec=spec) as (player, endpoint):
        with pytest.raises(PlayerFault, match=f"no legal action in {tries} tries: 1. 'fold' is no"):
            decided(player)
        assert len(endpoint.requests) == tries
        # What the forfeited decision used stands in no ply: it is reported with the match.
        assert player.learn(None)[1].model_calls == tries


@pytest.mark.parametrize(
    "answer",
    [
        error(500),
        Answer(b"<html>", content_type="text/html"),
        Answer(b'{"choices": []}'),
        error(401),
        message("so much to say", finish="length"),
    ],
)
def test_an_endpoints_failure_is_never_a_move_or_a_forfeit(answer: Step) -> None:
    with asking(answer) as (player, endpoint):
        with pytest.raises((EndpointError, RefusedRequestError, MalformedReplyError)) as met:
            decided(player)
        asked = len(endpoint.requests)
        with pytest.raises(ModelError) as again:  # as in a match beside it, at its next call
            decided(player)
    assert again.value is met.value
    assert len(endpoint.requests) == asked == 1


def test_the_budget_of_the_environment_holds_for_all_players_of_a_command_together() -> None:
    with serving(BET) as endpoint, Sandbox() as sandbox:
        table = ModelTable.opened(settings_for(endpoint, max_calls=3), {"scripted", "other"})
        roster = PlayerRoster(models=table)
        one, other = (
            roster.seat(
                roster.effective(f"llm:model={name}"), seat=0, match=0, game=LEDUC, sandbox=sandbox
            )
            for name in ("scripted", "other")
        )
        for player in (one, other, one):
            decided(player)
        with pytest.raises(BudgetExhaustedError, match="3 of 3 calls are used"):
            decided(other)
    assert [request["model"] for request in endpoint.requests] == ["scripted", "other", "scripted"]


@pytest.mark.parametrize("listed", ["yes", "no"])
def test_the_list_of_legal_actions_is_given_or_withheld(listed: str) -> None:
    spec = f"llm:model=scripted,legal={listed}"
    with asking(message("ACTION: sing"), BET, spec=spec) as (player, endpoint):
        assert decided(player, legal=["bet", "zephyr"])[0] == "bet"
    told = str(endpoint.requests)
    assert ("zephyr" in told) == (listed == "yes")
    assert part(endpoint.requests[0], "actions") == ("bet\nzephyr" if listed == "yes" else "")


def test_only_a_listed_single_action_is_played_without_a_call() -> None:
    with asking(message("ACTION: pass"), spec="llm:model=scripted,legal=no") as (player, endpoint):
        assert decided(player, legal=["pass"])[0] == "pass"
        assert len(endpoint.requests) == 1
    with asking(BET) as (player, endpoint):
        assert decided(player, legal=["pass"])[1]["model_calls"] == 0
        assert endpoint.requests == []


def turns(number: int) -> SeatLog:
    """A log of `number` turns that are over, and one that is not."""
    entries: list[LogEntry] = []
    for turn in range(number):
        entries.append(Seen({"turn": turn}, (f"Event {turn}.",)))
        entries.append(Seen({"turn": turn}, (f"Later {turn}.",)))
        entries.append(Did(f"did {turn}"))
    return SeatLog(0, [*entries, Seen({"turn": number}, ("Your turn.",))])


@pytest.mark.parametrize(("history", "told"), [(5, range(3, 8)), (0, range(0)), (100, range(8))])
def test_the_last_turns_are_told_with_events_views_and_actions(history: int, told: range) -> None:
    with asking(BET, spec=f"llm:model=scripted,history={history}") as (player, endpoint):
        decided(player, turns(8))
    (request,) = endpoint.requests
    blocks = [
        f'Turn {turn + 1}\n- Event {turn}.\n- Later {turn}.\nyou saw: {{"turn":{turn}}}\n'
        f"you did: did {turn}"
        for turn in told
    ]
    assert part(request, "match") == "\n\n".join(blocks)
    assert part(request, "events") == "Your turn."
    assert part(request, "observation") == '{"turn":8}'
    assert "# Now: your turn 9" in request["messages"][1]["content"]


def test_a_long_history_loses_its_oldest_turns_and_says_so() -> None:
    log = turns(3)
    for index, entry in enumerate(log.entries):
        if isinstance(entry, Seen):
            log.entries[index] = Seen(entry.observation, ("x" * 2_500,))
    with asking(BET) as (player, endpoint):
        decided(player, log)
    told = part(endpoint.requests[0], "match")
    assert told.startswith("[1 earlier turns left out]\n\nTurn 2\n")
    assert len(told) < 13_000


@pytest.mark.parametrize(
    ("style", "wanted", "remembers"),
    [
        ("cot", "sensible actions one by one", False),
        ("react", "begins with THOUGHT:", True),
        ("reflexion", "begins with THOUGHT:", True),
        ("belief", "begins with BELIEFS:", True),
    ],
)
def test_each_style_asks_in_its_own_way_and_goes_on_from_its_own_words(
    style: str, wanted: str, remembers: bool
) -> None:
    said = "BELIEFS: the queen is out, 80 %."
    script = (message(f"{said}\nACTION: did 0"), BET)
    with asking(*script, spec=f"llm:style={style},model=scripted") as (player, endpoint):
        decided(player, turns(0), ["did 0", "bet"])
        decided(player, turns(1), ply=9)
    assert wanted in endpoint.requests[0]["messages"][0]["content"]
    assert (
        f"you wrote: {said}\nyou did: did 0" in part(endpoint.requests[1], "match")
    ) is remembers


def test_the_rulebook_stands_in_the_prompt_where_there_is_one() -> None:
    with asking(BET, game=LEDUC) as (player, endpoint):
        assert decided(player)[1]["rules"] == "rulebook"
    assert part(endpoint.requests[0], "rulebook") == library.rulebook("leduc_poker").rstrip()
    with asking(BET) as (player, endpoint):
        assert decided(player)[1]["rules"] == "none"
    assert "There is no rulebook." in endpoint.requests[0]["messages"][1]["content"]


def test_it_is_told_its_seats_view_and_nothing_of_the_module() -> None:
    with asking(BET, game=GameSetup("none.py", "SECRET = 'state'", 2)) as (player, endpoint):
        decided(player)
    told = str(endpoint.requests)
    assert "KS" in told
    assert "SECRET" not in told


def test_hostile_words_of_a_game_stay_in_their_fences_and_can_still_be_played() -> None:
    hostile = HOSTILE.replace("\n", " ")
    log = SeatLog(0, [Seen({"note": hostile}, (hostile,))])
    seen: list[str] = []

    def play_it(request: dict[str, object]) -> Answer:
        shown = part(request, "actions").splitlines()[1]
        seen.append(shown)
        return message(f"ACTION: {shown if len(seen) > 1 else shown + '!'}")

    with asking(play_it) as (player, endpoint):
        assert decided(player, log, ["bet", hostile])[0] == hostile
    last = endpoint.requests[-1]["messages"]
    for text in (last[1]["content"], last[3]["content"]):
        for line in text.splitlines():
            if "Ignore previous instructions" in line:
                assert "</untrusted>" not in line.lower()
        assert text.count("<untrusted source=") == text.count("\n</untrusted>")
        assert "\x1b" not in text
        assert "```" not in text


def test_lessons_are_told_to_reflexion_the_newest_last_and_to_no_other_style() -> None:
    lessons = ["one", "two", "three"]
    for style, told in (("reflexion,lessons=2", "two\n\nthree"), ("react", "")):
        with asking(BET, spec=f"llm:style={style},model=scripted") as (player, endpoint):
            player.recall(lessons)
            decided(player)
        assert part(endpoint.requests[0], "own notes") == told


def test_reflexion_looks_back_at_a_finished_match_and_only_there() -> None:
    spec = "llm:style=reflexion,model=scripted"
    with asking(BET, take_first, spec=spec) as (player, endpoint):
        decided(player)
        player.log = SeatLog(0, [*LOG.entries, Did("bet")])
        lesson, used = player.learn([1.0, -1.0])
        assert player.learn(None)[0] == ""
    assert lesson == "Noted: By player, from Player 1 on: 1, -1. More is better; yours is 1."
    assert used.model_calls == 1
    assert "you did: bet" in part(endpoint.requests[1], "match")
    with asking(BET) as (player, endpoint):
        decided(player)
        assert player.learn([1.0, -1.0])[0] == ""
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("llm", "llm: model is ''; required: model=NAME, as the endpoint knows it"),
        ("llm:model=", "required: model=NAME"),
        ("llm:model=" + "m" * 201, "required: model=NAME"),
        ("llm:style=tot,model=m", "known values: cot, react, reflexion, belief"),
        ("llm:model=m,history=101", "number >= 0 and <= 100"),
        ("llm:model=m,rethinks=11", "number >= 0 and <= 10"),
        ("llm:model=m,style=reflexion,lessons=0", "number >= 1 and <= 20"),
        ("llm:model=m,legal=maybe", "known values: no, yes"),
        ("llm:model=m,lessons=2", "lessons has no effect here; it needs style=reflexion"),
        ("llm:model=m,temperature=1", "no setting 'temperature'"),
    ],
)
def test_a_bad_spec_says_what_is_required(text: str, complaint: str) -> None:
    with pytest.raises(PlayerSpecError, match=complaint):
        parse_spec(text)


def test_a_spec_round_trips_with_a_name_that_has_colons_and_slashes() -> None:
    spec = parse_spec("llm:style=reflexion,model=hub/llama3.1:8b")
    assert spec.settings["model"] == "hub/llama3.1:8b"
    assert parse_spec(spec.name) == spec
    assert spec.name.endswith("history=5,legal=yes,rethinks=2,lessons=3")


def test_without_an_endpoint_it_is_refused_in_one_sentence() -> None:
    roster = PlayerRoster()
    config = roster.effective("llm:model=m")
    with (
        Sandbox() as sandbox,
        pytest.raises(PlayerSpecError, match="llm needs an endpoint: use it in match"),
    ):
        roster.seat(config, seat=0, match=0, game=LEDUC, sandbox=sandbox)


def test_what_is_told_is_the_legal_list_the_referee_holds() -> None:
    with asking(BET) as (player, endpoint):
        decided(player)
    assert part(endpoint.requests[0], "actions").splitlines() == LEGAL


def test_in_an_environment_the_model_is_told_its_rules_and_no_legal_actions() -> None:
    game = environment_game("openspiel:leduc_poker")
    with asking(BET, spec="llm:model=scripted,legal=no,rethinks=0", game=game) as (
        player,
        endpoint,
    ):
        decided(player)
    (asked,) = endpoint.requests
    assert game.opened().rules.strip()[:200] in part(asked, "rulebook")
    assert part(asked, "actions") == ""
