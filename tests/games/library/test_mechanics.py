"""Every family's `mechanics.yaml` names what is there, and says all that its rulebook says."""

import ast
import re
from collections.abc import Iterator

import pytest

from games.library import families, preset, presets, rulebook_template, source
from games.library.annotated import family_graph, family_mechanics, read_mechanics
from games.library.settings import game_of, impossible
from games.mechanics import ROOT, GraphError
from games.values import Json
from tools.coverage import mechanic_coverage
from tools.playtest.jobs import SandboxRecipe

GOOD = "the game ends: {kind: end}\nbid: {kind: action, to: [the game ends]}\n"


def games_of(family: str) -> Iterator[tuple[int, dict[str, Json]]]:
    """Seats and settings of games of a family: as it is, its presets, and every other value."""
    card, usual = game_of(family), game_of(family).defaults()
    seats = preset(family).players
    yield seats, usual
    for one in presets().values():
        if one.family == family:
            yield one.players, {**usual, **one.parameters}
    for name, field in card.parameters.items():
        for other in field.others(usual[name]):
            if not impossible(family, seats, {**usual, name: other}):
                yield seats, {**usual, name: other}


@pytest.mark.parametrize("family", families())
def test_all_that_a_family_names_is_there(family: str) -> None:
    annotated, text = family_mechanics(family), source(family)
    stated = set(re.findall(r"- (R\d+):", rulebook_template(family)))
    told = {rule for one in annotated.mechanics.values() for rule in one.rules}
    assert told | set(annotated.untold) == stated
    assert not told & set(annotated.untold)
    card = game_of(family)
    defined = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    for name, one in annotated.mechanics.items():
        named = {*one.settings, *one.without, *one.when}
        assert named <= card.parameters.keys(), name
        assert {code.partition(" if ")[0] for code in one.code} <= defined, name
        assert not [v for k, v in one.without.items() if card.parameters[k].objection(k, v)], name
        assert one.code, name
        assert bool(one.to) != (name == ROOT), name


@pytest.mark.parametrize("family", families())
def test_every_mechanic_of_every_game_is_reached_and_has_a_rule_and_code(family: str) -> None:
    met: set[str] = set()
    for seats, settings in games_of(family):
        graph = family_graph(family, settings, seats)
        met |= {node.name for node in graph.nodes}
        assert graph.nodes[0].name == ROOT
        rules = [f"R{number}" for number in range(1, 50)]
        assert not graph.faults(rules), settings
    # What needs two settings at once is in no such game.
    apart = family_mechanics(family).mechanics.keys() - met
    assert all(len(family_mechanics(family).mechanics[name].settings) for name in apart), apart
    with SandboxRecipe(accept_no_isolation=True, backend="process").make() as sandbox:
        found = mechanic_coverage(sandbox, source(family), graph, [])
    assert not found.unmarked


@pytest.mark.parametrize("family", families())
def test_a_setting_that_takes_a_mechanic_out_makes_a_game_without_it(family: str) -> None:
    tried = set[str]()
    for seats, settings in games_of(family):
        for node in family_graph(family, settings, seats).nodes:
            if node.without and node.name not in tried:
                tried.add(node.name)
                changed = {**settings, **node.without}
                left = {one.name for one in family_graph(family, changed, seats).nodes}
                assert node.name not in left
                refused = impossible(family, seats, changed)
                assert not refused, (node.name, refused)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a list", "cannot be read"),
        ("bid: {kind: action}", "must begin with"),
        (GOOD + "raise: {kind: action, to: [nothing]}", "leads to"),
        (GOOD + "raise: {kind: wish, to: [bid]}", "cannot be read"),
        (GOOD + "raise: {kind: action, off: {a: 1}}", "cannot be read"),
        ("{", "cannot be read"),
    ],
)
def test_annotations_that_are_none_are_refused(text: str, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        read_mechanics("family", text)
    assert [*read_mechanics("family", GOOD).mechanics] == [ROOT, "bid"]


def test_a_mechanic_that_a_setting_takes_out_is_gone_with_what_only_serves_it() -> None:
    usual = game_of("shedding").defaults()
    names = {node.name for node in family_graph("shedding", usual, 4).nodes}
    assert {"wild cards", "name the suit or rank that follows"} <= names
    assert not {"pass the penalty on", "skip the next player"} & names
    plain = family_graph("shedding", {**usual, "wild_rank": "none"}, 4)
    assert not {"wild cards", "name the suit or rank that follows"} & {n.name for n in plain.nodes}
    skipping = family_graph("shedding", {**usual, "skip_rank": "J"}, 4)
    (node,) = (n for n in skipping.nodes if n.name == "skip the next player")
    assert node.without == {"skip_rank": "none"}
