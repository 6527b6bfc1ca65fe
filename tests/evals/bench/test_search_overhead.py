import numpy as np
import pytest

from agents.search.settings import GraphSettings, SearchView
from agents.search.uct import tree_search
from evals.bench.search_overhead import Call, CallStep, RolloutStep, Step, noting, steps, walk
from games import library
from games.modules import bind, load_namespace

PLY = ("apply_action", "get_rewards", "get_legal_actions")


def noted(simulations: int, preset: str = "connect_four") -> tuple[list[Call], dict[str, object]]:
    namespace, calls = load_namespace(library.source(preset)), list[Call]()
    root = bind(namespace, 2)
    start = namespace["initial_state"]
    assert callable(start)
    settings = GraphSettings(simulations=simulations)
    rules = bind(noting(namespace, calls.append), root.num_players)
    state = start(2)
    tree_search(SearchView(rules, 0, lambda: state), settings, np.random.default_rng(3))
    return calls, namespace


def names(program: list[Step], namespace: dict[str, object]) -> list[str]:
    known = {id(function): name for name, function in namespace.items()}
    found = list[str]()
    for step in program:
        if isinstance(step, RolloutStep):
            found.extend(PLY * len(step.actions))
        else:
            found.append(known[id(step.function)])
    return found


@pytest.mark.parametrize("preset", ["connect_four", "tic_tac_toe"])
def test_walking_the_steps_makes_exactly_the_calls_of_the_search(preset: str) -> None:
    calls, namespace = noted(40, preset)
    program = steps(calls, namespace)
    again = list[Call]()
    # Where the walk meets a function that notes, it must meet the search's own calls: names,
    # arguments and answers, one by one.
    through = noting(namespace, again.append)
    renamed = {id(namespace[name]): through[name] for name in through}
    told: list[Step] = [
        step
        if isinstance(step, RolloutStep)
        else CallStep(renamed[id(step.function)], step.arguments)  # type: ignore[arg-type]
        for step in program
    ]
    walk(told, through)
    assert again == calls
    assert names(program, namespace) == [call.name for call in calls]
    # A rollout is one run: each simulation has at most one, and some have plies in it.
    runs = [step for step in program if isinstance(step, RolloutStep)]
    assert len(runs) <= 40
    assert max(len(run.actions) for run in runs) > 3


def test_plies_that_do_not_follow_one_another_are_runs_of_their_own() -> None:
    namespace = load_namespace(library.source("tic_tac_toe"))
    start, apply = namespace["initial_state"], namespace["apply_action"]
    assert callable(start)
    assert callable(apply)
    root = start(2)
    first, second = "x 1,1", "x 1,2"
    calls = [
        call
        for action in (first, second)
        for after in (apply(root, action),)
        for call in (
            Call("apply_action", (root, action), after),
            Call("get_rewards", (after,), [0, 0]),
            Call("get_legal_actions", (after,), []),
        )
    ]
    assert steps(calls, namespace) == [RolloutStep(root, [first]), RolloutStep(root, [second])]
    # The same three calls of another state than the ply's are no ply.
    mixed = [calls[0], calls[4], calls[5]]
    assert [type(step) for step in steps(mixed, namespace)] == [CallStep, CallStep, CallStep]
