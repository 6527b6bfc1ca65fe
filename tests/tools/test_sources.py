"""Learned sources as game modules, held against the contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from games.checks import verdict
from games.checks.run import CheckSettings
from games.contract import Game
from games.modules import LocalModule
from games.values import ModuleFault, State
from tools.checking import check_source
from tools.sandbox import Sandbox
from tools.sources import GameNotFoundError, find_game, find_rulebook, learned_module

MODELS = Path(__file__).parents[1] / "models"
EMPTY: State = {"board": ["."] * 9, "current_player": "x"}


def learned(source: str = "", **parameters: int) -> str:
    text = source or (MODELS / "tic_tac_toe.py").read_text()
    return learned_module(
        text, name="tic tac toe", num_players=2, initial_state=EMPTY, parameters=parameters
    )


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def test_a_learned_source_plays_as_a_module() -> None:
    game = Game(LocalModule(learned(rows=3)))
    state = game.initial_state(2, {"rows": 3})
    for action in ("x(0,0)", "o(1,1)", "x(0,1)", "o(2,2)", "x(0,2)"):
        assert game.events(state, action, 2) == [[], []]
        state = game.apply_action(state, action)
    assert (game.current_player(state), game.rewards(state, 2)) == (-4, [1.0, -1.0])
    assert game.initial_state(2, {}) == EMPTY, "an earlier match changed the first state"


@pytest.mark.parametrize(("players", "given"), [(3, {}), (2, {"rows": 4}), (2, {"other": 1})])
def test_it_takes_no_other_seats_and_parameters(players: int, given: dict[str, int]) -> None:
    with pytest.raises(ModuleFault, match="learned for 2 players"):
        Game(LocalModule(learned(rows=3))).initial_state(players, {**given})


def test_what_a_check_cannot_judge_of_it_is_not_passed(sandbox: Sandbox) -> None:
    settings = CheckSettings(matches=3, samples=8)
    run = check_source(sandbox, learned(), settings=settings, num_players=2, parameters={})
    found = {finding.check: finding.outcome for finding in run.findings}
    assert found.pop("leak_audit") == "could_not_judge"
    assert set(found.values()) == {"passed"}
    assert verdict(run.findings) == "could_not_judge"


def test_a_source_that_says_it_was_learned_fails_where_it_is_wrong(sandbox: Sandbox) -> None:
    wrong = learned().replace("return [state, state]", "state.clear(); return [{}, {}]")
    settings = CheckSettings(matches=2, samples=4)
    run = check_source(sandbox, wrong, settings=settings, num_players=2, parameters={})
    assert verdict(run.findings) == "failed"


def test_a_source_that_does_not_parse_is_the_fault_of_its_line() -> None:
    with pytest.raises(ModuleFault) as caught:
        learned("def get_rewards(state:\n    return 0\n")
    assert (caught.value.kind, caught.value.line) == ("unreadable", 1)


@pytest.mark.parametrize("line", ["GAME = 1", "def visible(): ...", "import x as get_events"])
def test_a_source_that_binds_what_is_added_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(ModuleFault, match="required: another name") as caught:
        learned(f"import math\n{line}\n")
    assert caught.value.line == 2


def test_what_lies_beside_a_game_is_read_within_bounds(tmp_path: Path) -> None:
    """2 MB a file, as docs/sandbox.md says; so a folder takes no more of the host than they do."""
    (tmp_path / "game.py").write_text("")
    with (tmp_path / "rulebook.md").open("wb") as file:
        file.truncate(2**31)
    assert len(find_rulebook(str(tmp_path / "game.py"), {}, 2) or "") == 2_000_000
    (tmp_path / "heuristics").mkdir()
    for number in range(65):
        (tmp_path / "heuristics" / f"h{number}.py").write_text("")
    with pytest.raises(GameNotFoundError, match="65 heuristics; there may be 64"):
        find_game(str(tmp_path))


@pytest.mark.parametrize("name", ["game.py", "rulebook.md", "heuristics/mine.py", "players"])
def test_a_folder_that_leads_elsewhere_is_no_game(tmp_path: Path, name: str) -> None:
    """One from somebody else could have any file of this computer shown to a model's endpoint."""
    folder, mine = tmp_path / "theirs", tmp_path / "mine"
    for part in (mine, folder / "heuristics"):
        part.mkdir(parents=True)
    (mine / "kept.py").write_text("")
    if name != "game.py":
        (folder / "game.py").write_text("")
    (folder / name).symlink_to(mine if name == "players" else mine / "kept.py")
    with pytest.raises(GameNotFoundError, match="is a link that leads out of its folder"):
        find_game(str(folder))
    if name != "players":  # a folder has no second name
        (folder / name).unlink()
        (folder / name).hardlink_to(mine / "kept.py")
        with pytest.raises(GameNotFoundError, match="is a link that leads out of its folder"):
            find_game(str(folder))
        (folder / name).unlink()
    assert find_game(str(mine / "kept.py")).source == ""


def test_a_game_of_the_gallery_is_read_where_an_installer_linked_its_files(tmp_path: Path) -> None:
    """As `uv pip install` does, to its cache."""
    folder = Path(__file__).parents[2] / "gallery" / "tides"
    try:
        (tmp_path / "rulebook.md").hardlink_to(folder / "rulebook.md")
    except OSError:
        pytest.skip("the temporary folder lies on another disk")
    assert find_game(str(folder)).source == (folder / "game.py").read_text(encoding="utf-8")
