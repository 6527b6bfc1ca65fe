"""A run of `learn`: what the calls reach, what is never a pass, and what a break costs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from games import library
from games.trajectories import (
    OpenPosition,
    OpenTrajectory,
    TrajectoryHeader,
    header_line,
    match_line,
)
from games.values import CHANCE, TERMINAL
from graph.learn.figures import Gaps
from graph.learn.learning import Learning
from graph.learn.matches import open_matches, take_in
from graph.learn.nodes.asking import expandable
from graph.learn.report import contradictions, final_words
from graph.learn.runs import goes_on, run_learning
from graph.learn.state import LearnState
from graph.run.candidates import Candidate
from graph.run.events import Begins, Event, MatchesRead
from graph.run.folder import RunFolder, RunFolderError
from tests.agents.model.endpoint import Answer, Request, message, serving
from tests.graph.learn.conftest import Learn, learning, recorded, told_of
from tests.tools.predicting.material import (
    COIN,
    ODDS,
    TIC_TAC_TOE,
    changed,
    matches_of,
    memorising,
)
from tools.sandbox import Sandbox

NO_TURN = changed(TIC_TAC_TOE, ('"xo"[mark == "x"]', '"x"'))
EDIT = {"cause": "turns", "edits": [{"search": '"x"}', "replace": '"xo"[mark == "x"]}'}]}


def code(*sources: str) -> Answer:
    return message("\n".join(f"```python\n{source}```\n" for source in sources))


def last_boards(rows: list[dict[str, Any]]) -> list[str]:
    boards = [row["positions"][-1]["state"]["board"] for row in rows]
    return [json.dumps(board, separators=(",", ":")) for board in boards]


def edits(value: dict[str, Any]) -> Answer:
    return message(f"I see.\n{json.dumps(value)}")


@pytest.mark.parametrize("odds", [(0.75, 0.25), (0.5, 0.5)])
def test_a_model_learns_the_odds_of_chance_where_they_are_uneven(
    learn: Learn, tmp_path: Path, odds: tuple[float, float]
) -> None:
    def met(face: str, *legal: str) -> OpenPosition:
        player, given = (CHANCE, odds) if legal else (TERMINAL, ())
        return OpenPosition(
            {"face": face}, player, legal, len(legal), (0.0,), ({"face": face},), given
        )

    start, end = met("", "heads", "tails"), met("heads")
    file, matches = tmp_path / "coin.jsonl", 6
    header = TrajectoryHeader("own:coin", 1, {}, "open", None, "random", 0, matches)
    lines = [match_line(OpenTrajectory(n, (start, end), ("heads",))) for n in range(matches)]
    file.write_text(header_line(header) + "".join(lines))
    uneven = odds[0] > odds[1]
    with serving(code(COIN), code(COIN + ODDS)) as endpoint:
        done = learn(endpoint, matches=file)
        asked = [request["messages"] for request in endpoint.requests]
    assert told_of(done)["accuracy"] == 1
    assert len(asked) == 1 + uneven
    assert ("get_chance_probabilities" in asked[0][0]["content"]) == uneven
    assert ('"odds":[0.75,0.25]' in asked[0][1]["content"]) == uneven
    if uneven:
        assert "get_chance_probabilities" in asked[1][1]["content"]


@pytest.mark.parametrize("known", [True, False])
def test_outcomes_that_were_only_counted_are_said_to_be_and_leave_the_run_incomplete(
    learn: Learn, tmp_path: Path, known: bool
) -> None:
    def met(face: str, *legal: str) -> OpenPosition:
        player = CHANCE if legal else TERMINAL
        shown = legal if known else ()
        return OpenPosition({"face": face}, player, shown, len(legal), (0.0,), ({"face": face},))

    faces = [f"face {n}" for n in range(300 if not known else 2)]
    start, end, matches = met("", *faces), met(faces[1]), 6
    file = tmp_path / "die.jsonl"
    header = TrajectoryHeader("own:die", 1, {}, "open", None, "random", 0, matches)
    lines = [match_line(OpenTrajectory(n, (start, end), (faces[1],))) for n in range(matches)]
    file.write_text(header_line(header) + "".join(lines))
    with serving(code(changed(COIN, ('["tails", "heads"]', repr(faces))))) as endpoint:
        told = told_of(learn(endpoint, matches=file))
        (asked,) = [request["messages"][0]["content"] for request in endpoint.requests]
    assert ("only that number is compared" in asked) is not known
    assert told["accuracy"] == 1
    said = "of more than 200 outcomes of chance the number alone was compared"
    assert (said in told["never_exercised"][:1]) is not known


@pytest.mark.parametrize("refine", ["tree", "conversation"])
def test_a_mended_model_passes_and_the_curve_tells_each_call(learn: Learn, refine: str) -> None:
    with serving(message("Prose only."), code(NO_TURN), edits(EDIT)) as endpoint:
        done = learn(endpoint, refine=refine)
    told = told_of(done)
    assert (told["end"], told["accuracy"], told["held_out_accuracy"]) == ("passed", 1.0, 1.0)
    assert told["calls"] == {"transition": 3}
    reached = [one["accuracy"] for one in told["curve"]]
    assert (reached[0], reached[2]) == (None, 1.0)
    assert 0 < reached[1] < 1
    assert "Prose only." in told["curve"][0]["refused"][0]
    assert (done.folder.path / "model.py").read_text().startswith(TIC_TAC_TOE.rstrip())
    page = (done.folder.path / "report.html").read_text()
    assert "Accuracy by call" in page
    assert "What failed last" not in page


def test_the_last_words_count_requests_whose_replies_were_of_no_use(
    begun: Callable[..., RunFolder], sandbox: Sandbox
) -> None:
    folder = begun()
    with serving(message("Prose only."), code(TIC_TAC_TOE)) as endpoint:
        done = run_learning(folder, learning(folder, endpoint, sandbox, retries=1))
    told, words = told_of(done), final_words(done.report, folder)
    assert told["calls"] == {"transition": 1}
    assert "the model was asked 2 times, 1 without a usable reply: " in words
    assert f"held out 1.0000 on {told['held_out_records']} records" in words


def test_a_reply_that_breaks_off_is_told_so_at_a_draft_and_at_a_mend(
    begun: Callable[..., RunFolder], sandbox: Sandbox
) -> None:
    folder = begun()
    cut = message(f"```python\n{TIC_TAC_TOE[: len(TIC_TAC_TOE) // 2]}")
    with serving(cut, code(NO_TURN), cut, edits(EDIT)) as endpoint:
        told = told_of(run_learning(folder, learning(folder, endpoint, sandbox, retries=1)))
        again = [endpoint.requests[n]["messages"][-1]["content"] for n in (1, 3)]
    assert told["accuracy"] == 1
    assert all("it breaks off within a block of code" in said for said in again)


def test_a_mend_that_is_neither_code_nor_edits_is_told_that_it_may_be_either(
    begun: Callable[..., RunFolder], sandbox: Sandbox
) -> None:
    folder = begun()
    with serving(code(NO_TURN), message("Prose only."), edits(EDIT)) as endpoint:
        told = told_of(run_learning(folder, learning(folder, endpoint, sandbox, retries=1)))
        again = endpoint.requests[2]["messages"][-1]["content"]
    assert told["accuracy"] == 1
    assert "no closed block of code" in again
    assert "no JSON object" in again


def test_matches_that_were_all_left_before_their_end_are_told_first(
    learn: Learn, tmp_path: Path
) -> None:
    whole = matches_of("openspiel:tic_tac_toe", 5)
    left = [OpenTrajectory(m.match, m.positions[:4], m.actions[:3], truncated=True) for m in whole]
    events: list[Event] = []
    with serving(code(TIC_TAC_TOE)) as endpoint:
        told = told_of(
            learn(
                endpoint,
                tell=events.append,
                matches=recorded(tmp_path / "left.jsonl", "openspiel:tic_tac_toe", 5, of=left),
            )
        )
    (read,) = (event for event in events if isinstance(event, MatchesRead))
    assert read.of_both_left_before_their_end == 5
    assert told["end"] == "incomplete"
    assert told["reason"].startswith("every recorded match was left before its end; ")


def test_that_no_match_was_held_out_is_told_before_single_branches() -> None:
    gaps = Gaps(phases=("end",), branches=("line 1 of get_rewards: a", "line 2"), heldout=True)
    assert gaps.named[0] == "no recorded match is left that the model was not made to fit"
    assert len(gaps.named) == 4


def test_the_prompt_shows_one_match_in_full_no_held_out_one_and_stays_short(learn: Learn) -> None:
    with serving(code(NO_TURN), edits(EDIT)) as endpoint:
        done = learn(endpoint)
        prompts = [request["messages"][1]["content"] for request in endpoint.requests]
    kept = (done.folder.path / ".state" / "matches.jsonl").read_text().splitlines()[1:]
    rows = [json.loads(line) for line in kept]
    held = rows[-told_of(done)["matches"]["held_out"] :]
    shown, training = map(last_boards, (held, rows))
    assert not any(board in prompts[0] for board in shown)
    assert any(board in prompts[0] for board in training)
    assert "expected: " in prompts[1]
    assert max(map(len, prompts)) < 4 * 30_000


def test_a_mend_shows_the_plies_of_a_failing_test_and_what_was_made_of_the_source(
    learn: Learn,
) -> None:
    """Seen with a hand-answered modeller: nineteen versions of one source, none told of another."""
    worse = changed(NO_TURN, ("return [state, state]", "return [{}, {}]"))
    with serving(code(NO_TURN), code(worse), edits(EDIT)) as endpoint:
        done = learn(endpoint, refine="tree")
        prompts = [request["messages"][1]["content"] for request in endpoint.requests]
    assert told_of(done)["end"] == "passed"
    played, tried = "What was really played", "What was made of this source already"
    assert [(played in told, tried in told) for told in prompts] == [
        (False, False),
        (True, False),
        (True, True),
    ]
    assert "+    return [{}, {}]" in prompts[2].partition(tried)[2]
    assert "% hold; transition: " in prompts[2].partition(tried)[2]


def test_a_model_that_knows_its_matches_by_heart_is_no_pass(
    begun: Callable[..., RunFolder], sandbox: Sandbox
) -> None:
    folder = begun(max_calls=2)

    def script(request: Request) -> Answer:
        found = context.files.material(3, 0)  # a fifth of the fifteen of a quick run
        return code(memorising(tuple(open_matches(found.training([])))))

    with serving(script) as endpoint:
        context = learning(folder, endpoint, sandbox)
        told = told_of(run_learning(folder, context))
    assert told["end"] == "gave_up"
    assert told["curve"][0]["best"] < 1  # a held-out match that it failed has joined the others
    assert told["matches"]["failed_when_held_out"]


def test_a_budget_that_ends_leaves_the_best_candidate_with_its_accuracy(learn: Learn) -> None:
    worse = changed(NO_TURN, ("return [state, state]", "return [{}, {}]"))
    with serving(
        code(worse), code(NO_TURN), code(worse + "\n"), edits(EDIT | {"edits": []})
    ) as one:
        done = learn(one, max_calls=4, refine="conversation")
    told = told_of(done)
    assert (told["end"], told["candidate"]) == ("gave_up", 1)
    assert 0 < told["accuracy"] == told["curve"][1]["accuracy"] < 1
    assert told["curve"][3]["candidates"] == []
    assert told["curve"][3]["best"] == told["accuracy"], "a refused call leaves the best as it was"
    assert "no edit to apply" in told["curve"][3]["refused"][0]
    assert told["failed_last"][0]["function"] == "apply_action"
    assert told["matches"]["held_out"] > 0
    assert "held-out matches not asked" in final_words(done.report, done.folder)
    assert "What failed last" in (done.folder.path / "report.html").read_text()


def test_a_clock_keeps_a_model_from_passing(learn: Learn) -> None:
    clock = "import time\n" + TIC_TAC_TOE
    with serving(code(clock)) as endpoint:
        told = told_of(learn(endpoint, max_calls=1))
    assert told["end"] == "gave_up"
    assert "it imports time" in told["failed_last"][0]["evidence"]
    assert told["accuracy"] == 1
    assert "it imports time" in told["reason"], "no figure says what is wrong"


def test_what_was_never_put_to_the_test_makes_it_incomplete(learn: Learn) -> None:
    secret = changed(
        TIC_TAC_TOE,
        (
            "    over = winner",
            "    if board.count('x') == 9:\n        board = []\n    over = winner",
        ),
    )
    with serving(code(secret)) as endpoint:
        told = told_of(learn(endpoint))
    assert (told["end"], told["accuracy"]) == ("incomplete", 1.0)
    assert any("board = []" in one for one in told["never_exercised"])


def test_a_version_that_does_not_parse_is_refused_with_its_line(learn: Learn) -> None:
    broken = TIC_TAC_TOE + "def unfinished(:\n"
    line = len(broken.splitlines())
    with serving(code(broken, TIC_TAC_TOE)) as endpoint:
        told = told_of(learn(endpoint))
    assert told["end"] == "passed"
    (refused,) = told["curve"][0]["refused"]
    assert f"line {line}" in refused
    assert "lacks" not in refused


def test_several_versions_of_a_call_are_all_tested(learn: Learn) -> None:
    with serving(code(NO_TURN, TIC_TAC_TOE, "x = 1\n")) as endpoint:
        told = told_of(learn(endpoint, num_targets=3))
    assert told["end"] == "passed"
    assert told["curve"][0]["candidates"] == [0, 1]
    assert "lacks apply_action" in told["curve"][0]["refused"][0]


def test_a_contradiction_that_the_modeller_names_is_told_with_its_quotes(learn: Learn) -> None:
    note = '# CONTRADICTION: "Players alternate." / match 0 shows x twice\n'
    with serving(code(note + TIC_TAC_TOE)) as endpoint:
        told = told_of(learn(endpoint))
    assert told["contradictions"][0]["in_the_rules"] is True


def test_a_contradiction_of_any_length_is_told_in_a_few_lines() -> None:
    (told,) = contradictions("# CONTRADICTION: " + "x" * 100_000, "Players alternate.")
    assert len(told.said) <= 500


def test_random_matches_in_a_model_are_played_once_but_those_that_failed_again(
    begun: Callable[..., RunFolder], sandbox: Sandbox, tic_tac_toe: Path
) -> None:
    sound = library.source("tic_tac_toe")
    broken = f"{sound}\ndef get_rewards(state):\n    return []\n"
    with serving(message("unasked")) as endpoint:
        context = learning(begun(), endpoint, sandbox)
    take_in(tic_tac_toe, context.files, context.settings)
    first = context.play(sound, 2, 1)
    assert len(first.matches) == 2
    assert context.play(sound, 2, 1) is first
    assert context.play(sound, 2, 2) is not first
    failed = context.play(broken, 2, 1)
    assert failed.failures
    assert context.play(broken, 2, 1) is not failed
    for seed in range(3, 20):
        context.play(sound, 1, seed)
    assert len(context.played) < 10


SCRIPT = (message("Prose."), code(NO_TURN), edits(EDIT))
FILES = ("model.py", "report.html", "rules.md")


def without_use(folder: RunFolder) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder.path / "learn.json").read_text())
    return {key: value for key, value in told.items() if not key.startswith("usage")}


class Killed(BaseException):
    """The process ends here."""


def test_a_run_killed_at_any_call_goes_on_to_the_same_bytes(
    begun: Callable[..., RunFolder], sandbox: Sandbox
) -> None:
    whole = begun("whole")
    with serving(*SCRIPT) as endpoint:
        run_learning(whole, learning(whole, endpoint, sandbox))
    for call in range(1, len(SCRIPT) + 1):
        broken = begun(f"broken-{call}")

        def kill(event: Event, at: int = call) -> None:
            if event.details.get("call") == at:
                raise Killed

        with serving(*SCRIPT) as endpoint:
            with pytest.raises(Killed):
                run_learning(broken, learning(broken, endpoint, sandbox), tell=kill)
            run_learning(broken, learning(broken, endpoint, sandbox))
            assert len(endpoint.requests) == len(SCRIPT)  # what was answered is not paid again
        assert without_use(whole) == without_use(broken)
        for name in FILES:
            assert (whole.path / name).read_bytes() == (broken.path / name).read_bytes()


def test_a_run_that_gave_up_goes_on_with_more_calls(
    begun: Callable[..., RunFolder], sandbox: Sandbox
) -> None:
    folder = begun(max_calls=1)
    with serving(code(NO_TURN), edits(EDIT)) as endpoint:
        assert (
            told_of(run_learning(folder, learning(folder, endpoint, sandbox)))["end"] == "gave_up"
        )
        assert not goes_on(folder, 0)
        assert goes_on(folder, 2)
        told = told_of(run_learning(folder, learning(folder, endpoint, sandbox)))
    assert (told["end"], told["calls"]) == ("passed", {"transition": 2})
    assert not goes_on(folder, 0)
    with pytest.raises(RunFolderError, match="did not give up"):
        goes_on(folder, 1)


def test_a_run_killed_while_the_environment_is_asked_asks_it_no_further_match(
    begun: Callable[..., RunFolder], sandbox: Sandbox
) -> None:
    asks = {"active": 1, "environment": "openspiel:tic_tac_toe"}
    whole, broken = begun("whole", **asks), begun("broken", **asks)
    with serving(code(TIC_TAC_TOE)) as endpoint:
        run_learning(whole, learning(whole, endpoint, sandbox))

    def kill(event: Event) -> None:
        if event.node == "active" and not isinstance(event, Begins):
            raise Killed

    with serving(code(TIC_TAC_TOE)) as endpoint:
        with pytest.raises(Killed):
            run_learning(broken, learning(broken, endpoint, sandbox), tell=kill)
        run_learning(broken, learning(broken, endpoint, sandbox))
    assert without_use(whole) == without_use(broken)
    asked = [folder.path / ".state" / "asked" / "0.jsonl" for folder in (whole, broken)]
    assert asked[0].read_bytes() == asked[1].read_bytes()


def test_a_tree_refines_what_gained(begun: Callable[..., RunFolder], sandbox: Sandbox) -> None:
    """App. D.1.3: a draft from 0.01 on, a child that gained 0.01 of what was missing; else any."""
    folder = begun()
    with serving(code(NO_TURN)) as endpoint:
        context = learning(folder, endpoint, sandbox)

    def eligible(*scores: float) -> list[int]:
        pool = tuple(
            Candidate(number=n, parent=0 if n else None, source=str(n), score=score)
            for n, score in enumerate(scores)
        )
        return [c.number for c in expandable(Learning(context, LearnState(candidates=pool)))]

    assert eligible(0.5, 0.5, 0.504, 0.52) == [0, 3]
    assert eligible(0.99, 0.99, 0.992) == [0, 2]  # one more of 500 tests: all that it could gain
    assert eligible(0.0, 0.02) == [1]
    assert eligible(0.0, 0.0) == [0, 1]
