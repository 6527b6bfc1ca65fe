"""Seeded faults in the composer's candidates: check finds each, refine mends it or gives up."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pytest
from langgraph.errors import GraphRecursionError

from agents.composer import composer_roles
from agents.protocols import Attempt, CoderTools, Design, Edit, Mending
from games.checks import Finding, verdict
from games.checks.run import CheckSettings
from graph.new.coding import GraphCoderTools
from graph.new.export import graph
from graph.new.results import RunResult, exit_code, final_text
from graph.run.candidates import Candidate
from graph.run.folder import RunFolder
from graph.run.settings import RefineStrategy
from tests.games.checks.test_leaks import NOTED
from tests.graph.conftest import MakeContext
from tests.graph.faulty import (
    BlindCoder,
    Fault,
    FaultyCoder,
    RecordsOnly,
    RefusingCoder,
    SloppyCoder,
    Undecided,
    faulty_roles,
)
from tests.graph.running import start_run
from tests.graph.scripted import DESIGN
from tests.graph.settings import UNPLAYED

SETTINGS = UNPLAYED.model_copy(
    update={
        "check": CheckSettings(matches=6, samples=24, seed=3, max_plies=300),
        "max_rounds": 6,
        "records_judged": 12,
    }
)


class Seeded(NamedTuple):
    """A fault of one family, and the check that is to find it."""

    name: str
    fault: Fault
    found_by: str


CONNECT_FOUR = "connect four with 4 rows and 5 columns"
PLACEMENT = (
    Seeded(
        "a crash when a line is completed",
        ('state["line_by"] = player', 'state["line_by"] = state["winner"]'),
        "random_play",
    ),
    Seeded(
        "a duplicate legal action",
        (
            "    return legal\n\n\ndef parse_action",
            "    return legal + legal[:1]\n\n\ndef parse_action",
        ),
        "random_play",
    ),
    Seeded(
        "an endless game",
        (
            "    if action == SWAP:\n        return _swapped(state)",
            '    if state["placed"] > 5:\n        return {**state, "player": 1 - state["player"]}',
        ),
        "random_play",
    ),
    Seeded(
        "the winner pays",
        (
            'sign = -1 if state["rules"]["misere"] else 1',
            'sign = 1 if state["rules"]["misere"] else -1',
        ),
        "unit_test",
    ),
)
LEDUC = "leduc poker for two players"
POKER = (
    Seeded(
        "a crash at the showdown",
        ("best = choose(strength.values())", "best = choose(strength)[0]"),
        "random_play",
    ),
    Seeded(
        "the other hand is seen after the first round",
        ('hand if state["shown"][other] else None', 'hand if state["round"] else None'),
        "leak_audit",
    ),
    Seeded(
        "what is legal tells of the other hand",
        (
            'open_raise = state["raises"] < state["rules"]["max_raises"]',
            'open_raise = state["raises"] < state["rules"]["max_raises"] '
            'and state["hands"][1 - state["player"]][0][0] != "K"',
        ),
        "leak_audit",
    ),
    Seeded(
        "a duplicate legal action",
        ('return ["check", "bet"] if', 'return ["check", "bet", "check"] if'),
        "random_play",
    ),
    Seeded(
        "an endless game",
        ('if after["deal"] + 1 == after["rules"]["deals"]:', 'if after["deal"] < 0:'),
        "random_play",
    ),
    Seeded(
        "the lowest hand wins",
        (
            'choose = min if state["rules"]["lowest_wins"] else max',
            'choose = max if state["rules"]["lowest_wins"] else min',
        ),
        "unit_test",
    ),
)
CASES = [(CONNECT_FOUR, seeded) for seeded in PLACEMENT] + [(LEDUC, seeded) for seeded in POKER]


def named(case: object) -> str:
    return case.name if isinstance(case, Seeded) else str(case).split(maxsplit=1)[0]


def failed(candidate: Candidate) -> list[Finding]:
    return [finding for finding in candidate.findings or () if finding.outcome == "failed"]


def lineage(result: RunResult) -> list[int | None]:
    return [candidate.parent for candidate in result.state.candidates]


@pytest.mark.parametrize(("prompt", "seeded"), CASES, ids=named)
def test_a_seeded_fault_is_found_and_repaired(
    make_context: MakeContext, folder: RunFolder, prompt: str, seeded: Seeded
) -> None:
    context = make_context(faulty_roles(seeded.fault), SETTINGS)
    state = start_run(prompt, folder, context).state
    assert seeded.found_by in {finding.check for finding in failed(state.candidates[0])}
    assert (state.end, state.rounds, state.accepted) == ("made", 1, 1)
    assert [candidate.outcome for candidate in state.candidates] == ["failed", "passed"]
    sound, broken = seeded.fault
    game = (folder.path / "game.py").read_text()
    assert sound in game
    assert broken not in game


@pytest.mark.parametrize("strategy", ["conversation", "tree"])
@pytest.mark.parametrize(("prompt", "all_of_them"), [(CONNECT_FOUR, PLACEMENT), (LEDUC, POKER)])
def test_many_faults_at_once_are_repaired_with_either_strategy(
    make_context: MakeContext,
    folder: RunFolder,
    prompt: str,
    all_of_them: tuple[Seeded, ...],
    strategy: RefineStrategy,
) -> None:
    faults = [seeded.fault for seeded in all_of_them]
    settings = SETTINGS.model_copy(update={"refine": strategy})
    result = start_run(prompt, folder, make_context(faulty_roles(*faults), settings))
    assert result.state.end == "made"
    assert result.state.accepted is not None
    plain = composer_roles().coder
    design = result.state.design
    assert design is not None
    made = result.state.candidate(result.state.accepted).source
    assert made == FaultyCoder(plain, ()).draft(design, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("prompt", "seeded"), [(CONNECT_FOUR, PLACEMENT[3]), (LEDUC, POKER[5])], ids=named
)
def test_a_broken_rule_that_no_unit_test_covers_is_found_in_a_record(
    make_context: MakeContext, folder: RunFolder, prompt: str, seeded: Seeded
) -> None:
    validator = RecordsOnly(composer_roles().validator)
    settings = SETTINGS.model_copy(update={"records_judged": 12})
    context = make_context(faulty_roles(seeded.fault, validator=validator), settings)
    state = start_run(prompt, folder, context).state
    found = failed(state.candidates[0])
    assert {finding.check for finding in found} == {"record"}
    assert {finding.function for finding in found} == {"get_rewards"}
    assert all(finding.rule and "the rules pay" in finding.evidence for finding in found)
    assert state.end == "made"


@pytest.mark.parametrize("strategy", ["conversation", "tree"])
def test_a_coder_that_refuses_ends_the_run_saying_why(
    make_context: MakeContext, folder: RunFolder, strategy: RefineStrategy
) -> None:
    roles = faulty_roles(POKER[1].fault, coder=RefusingCoder)
    settings = SETTINGS.model_copy(update={"refine": strategy})
    result = start_run(LEDUC, folder, make_context(roles, settings))
    assert (result.state.end, exit_code(result.state)) == ("gave_up", 1)
    assert result.state.reason.count("I cannot see what is wrong here") == 1
    assert "leak_audit" in result.state.reason
    assert result.state.accepted is None
    assert json.loads((folder.path / "run.json").read_text())["end"] == "gave_up"


def test_edits_that_mend_nothing_end_the_run_with_what_is_still_wrong(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = faulty_roles(PLACEMENT[1].fault, coder=BlindCoder)
    settings = SETTINGS.model_copy(update={"max_rounds": 3})
    result = start_run(CONNECT_FOUR, folder, make_context(roles, settings))
    assert (result.state.end, result.state.rounds) == ("gave_up", 3)
    assert "after 3 refinements" in result.state.reason
    assert "random_play" in result.state.reason
    assert lineage(result) == [None, 0, 1, 2]


def test_the_exported_graph_stops_a_loop_that_its_settings_would_allow(
    make_context: MakeContext,
) -> None:
    endless = SETTINGS.model_copy(update={"max_rounds": 100})
    context = make_context(faulty_roles(PLACEMENT[1].fault, coder=BlindCoder), endless)
    with pytest.raises(GraphRecursionError):
        graph.invoke({"messages": [("user", CONNECT_FOUR)]}, context=context)


def test_edits_that_do_not_apply_are_counted_and_end_the_run(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = faulty_roles(PLACEMENT[1].fault, coder=SloppyCoder)
    settings = SETTINGS.model_copy(update={"max_rounds": 3})
    result = start_run(CONNECT_FOUR, folder, make_context(roles, settings))
    assert (result.state.end, result.state.rounds) == ("gave_up", 3)
    assert "does not occur in the source" in result.state.reason
    assert lineage(result) == [None]
    assert result.state.candidates[0].refined == 3


@dataclass(frozen=True)
class MissingCoder(FaultyCoder):
    """Of two edits one misses its place; it notes what it is told."""

    told: list[tuple[list[str], tuple[str, ...]]] = field(default_factory=list)

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        refused = tuple(one for attempt in earlier for one in attempt.refused)
        self.told.append(([f.evidence for f in findings if f.check == "edit"], refused))
        edit = Edit(search=source, replace=f"{source}# {len(self.told)}\n")
        return Mending(edits=(edit,), refused=(f"edit {len(self.told)} missed",))


@pytest.mark.parametrize("strategy", ["conversation", "tree"])
def test_an_edit_that_missed_is_told_with_the_same_candidate_and_with_its_child(
    make_context: MakeContext, folder: RunFolder, strategy: RefineStrategy
) -> None:
    coder = MissingCoder(composer_roles().coder, [PLACEMENT[1].fault])
    settings = SETTINGS.model_copy(update={"refine": strategy, "max_rounds": 6})
    roles = replace(composer_roles(), coder=coder)
    result = start_run(CONNECT_FOUR, folder, make_context(roles, settings))
    parents = lineage(result)[1:]
    assert len(coder.told) == len(parents) == 6
    for asked, (on_it, before) in enumerate(coder.told, start=1):
        parent = parents[asked - 1]
        same = [n for n in range(1, asked) if parents[n - 1] == parent]
        assert on_it == [f"edit {n} missed" for n in same]
        if parent:
            assert f"edit {parent} missed" in before  # the n-th edit made candidate n


def test_the_tree_goes_back_to_other_candidates_than_the_newest(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = faulty_roles(PLACEMENT[1].fault, coder=BlindCoder)
    settings = SETTINGS.model_copy(update={"refine": "tree", "max_rounds": 5})
    result = start_run(CONNECT_FOUR, folder, make_context(roles, settings))
    refined = [candidate.refined for candidate in result.state.candidates]
    assert result.state.end == "gave_up"
    assert sum(refined) == 5
    assert max(refined) > 1  # a conversation refines every candidate once


def test_a_game_whose_records_nobody_can_judge_is_delivered_and_says_so(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = faulty_roles(validator=Undecided())
    result = start_run(CONNECT_FOUR, folder, make_context(roles, SETTINGS))
    assert (result.state.end, exit_code(result.state)) == ("delivered", 0)
    assert len(result.state.candidates[0].lacking) == SETTINGS.records_judged
    assert "the record leaves me in doubt" in final_text(result.state)


@dataclass(frozen=True)
class GoingRound(FaultyCoder):
    """Proposes the same edit again and again."""

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        swapped = source.endswith("# there\n")
        new = source.removesuffix("# there\n") if swapped else source + "# there\n"
        return Mending(edits=(Edit(search=source, replace=new),))


def test_an_edit_that_leads_back_to_an_earlier_candidate_is_no_progress(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = faulty_roles(PLACEMENT[1].fault, coder=GoingRound)
    settings = SETTINGS.model_copy(update={"max_rounds": 3})
    result = start_run(CONNECT_FOUR, folder, make_context(roles, settings))
    assert lineage(result) == [None, 0]
    assert "leads to candidate 0 again" in result.state.reason


def test_matches_to_be_judged_that_did_not_finish_leave_the_game_unjudged(
    make_context: MakeContext, folder: RunFolder
) -> None:
    # With so few plies this seed's one match of the checks ends, and not all those to be judged.
    short = CheckSettings(matches=1, samples=8, seed=3, max_plies=16)
    settings = SETTINGS.model_copy(update={"check": short, "records_judged": 6})
    context = make_context(faulty_roles(coder=RefusingCoder), settings)
    state = start_run(CONNECT_FOUR, folder, context).state
    assert state.end == "gave_up"
    (unjudged,) = [f for f in state.candidates[0].findings or () if f.outcome != "passed"]
    assert (unjudged.check, unjudged.outcome) == ("record", "could_not_judge")
    assert "of 6 matches" in unjudged.evidence


def test_where_few_matches_leave_a_doubt_the_coder_is_told_what_the_full_check_finds(
    make_context: MakeContext,
) -> None:
    few, full = CheckSettings(matches=3, samples=8), CheckSettings()
    context = make_context(settings=UNPLAYED.model_copy(update={"check": full}))
    # The matches that are met hang on how many numbers may be noted.
    sources = (NOTED.replace("range(30)", f"range({numbers})") for numbers in range(30, 54, 2))
    source = next(
        source
        for source in sources
        if verdict(context.checked(source, few, 2, 0).findings) == "could_not_judge"
    )
    told = GraphCoderTools(context, DESIGN).run_module(source)
    assert verdict(told) == "passed"
    assert told == context.checked(source, full, 2, 1).findings
