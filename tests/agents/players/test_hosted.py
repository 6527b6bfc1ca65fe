"""A search on the host decides as the one beside its module, and out of the module's reach."""

import pickle
from collections.abc import Iterator

import pytest

from agents.players.registry import PRELOAD, PlayerRoster
from games import library
from tools.playtest.jobs import GameSetup
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.replaying import VoidResultError
from tools.sandbox import Sandbox

# It finds the search that plays over it and makes every action worth the same to it.
SABOTAGE = """
import sys as _sys

_sound = get_rewards


def get_rewards(state):
    frame = _sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "simulate":
            return [0.0 for _ in _sound(state)]
        frame = frame.f_back
    return _sound(state)
"""

# It turns what it pays around where it is asked one call at a time, as a search on the host asks.
LIES_TO_A_SEARCH = """
import sys as _sys

_sound = get_rewards


def get_rewards(state):
    paid, frame = _sound(state), _sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_call":
            return [-one for one in paid]
        frame = frame.f_back
    return paid
"""

# A search asks twice who is to move at its root, before it asks what is legal there.
LIES_AT_THE_ROOT = """
_sound_player, _sound_legal, _asked = get_current_player, get_legal_actions, []


def get_current_player(state):
    _asked.append(state)
    return _sound_player(state)


def get_legal_actions(state):
    is_root = len(_asked) > 1 and _asked[-1] == _asked[-2] == state
    _asked.clear()
    return _sound_legal(state)[-1:] if is_root else _sound_legal(state)
"""

LIES_AT_THE_START = """
import sys as _sys

_sound_legal = get_legal_actions


def get_legal_actions(state):
    legal, frame = _sound_legal(state), _sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_call" and state == initial_state(2):
            return legal[-2:]
        frame = frame.f_back
    return legal
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as opened:
        yield opened


def played(
    sandbox: Sandbox,
    name: str,
    specs: list[str],
    *,
    host_search: bool,
    source: str = "",
) -> Series:
    game = GameSetup(name, source or library.source(name), 2, {}, library.heuristic_sources(name))
    roster = PlayerRoster(host_search)
    return play_series(game, specs, roster, SeriesSettings(matches=2, seed=5), sandbox=sandbox)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("tic_tac_toe", "uct:simulations=12,reuse=yes"),
        ("tic_tac_toe", "uct:simulations=6,leaf=heuristic"),
        ("leduc_poker", "ismcts:simulations=12"),
        ("kuhn_poker", "pimc:simulations=8,belief=module"),
    ],
)
def test_an_honest_module_is_played_alike(sandbox: Sandbox, name: str, spec: str) -> None:
    beside, hosted = (
        played(sandbox, name, [spec, "random"], host_search=host_search).entries
        for host_search in (False, True)
    )
    assert {i: (e.actions, e.returns) for i, e in beside.items()} == {
        i: (e.actions, e.returns) for i, e in hosted.items()
    }


def test_a_module_that_answers_a_search_otherwise_than_a_referee_voids_the_match(
    sandbox: Sandbox,
) -> None:
    source = library.source("tic_tac_toe") + LIES_TO_A_SEARCH
    specs = ["uct:simulations=16", "random"]
    said = r"^the result is void: get_rewards\(\{.*\) gave .* to a search, and .* to a fresh worker"
    with pytest.raises(VoidResultError, match=said) as caught:
        played(sandbox, "tic_tac_toe", specs, host_search=True, source=source)
    elsewhere = pickle.loads(pickle.dumps(caught.value))
    assert str(elsewhere) == str(caught.value)


def test_a_module_that_lies_about_the_root_of_a_search_alone_voids_the_match(
    sandbox: Sandbox,
) -> None:
    source = library.source("connect_four") + LIES_AT_THE_ROOT
    said = r"get_legal_actions\(.*\) gave \['drop 7'\] to a search, and \['drop 1', .* to a fresh"
    specs = ["uct:simulations=8", "random"]
    with pytest.raises(VoidResultError, match=said):
        played(sandbox, "connect_four", specs, host_search=True, source=source)


@pytest.mark.parametrize("reuse", ["no", "yes"])
def test_a_module_that_lies_about_one_position_where_it_is_asked_singly_voids_the_match(
    sandbox: Sandbox, reuse: str
) -> None:
    source = library.source("connect_four") + LIES_AT_THE_START
    said = r"get_legal_actions\(.*\) gave \['drop 6', 'drop 7'\] to a search, and \['drop 1', "
    specs = [f"uct:simulations=8,reuse={reuse}", "random"]
    with pytest.raises(VoidResultError, match=said):
        played(sandbox, "connect_four", specs, host_search=True, source=source)


def test_a_module_cannot_blind_a_search_on_the_host(sandbox: Sandbox) -> None:
    spec = "uct:simulations=60"
    source = library.source("tic_tac_toe") + SABOTAGE
    honest, spoilt, hosted = (
        [
            entry.actions
            for entry in played(sandbox, "tic_tac_toe", [spec, "random"], **how).entries.values()
        ]
        for how in (
            {"host_search": False},
            {"host_search": False, "source": source},
            {"host_search": True, "source": source},
        )
    )
    assert spoilt != honest == hosted


# Where single calls are asked for, as a search on the host does, one action is legal.
TELLS_A_SEARCH_ONE = """
import sys as _sys

_sound_legal = get_legal_actions


def get_legal_actions(state):
    legal, frame = _sound_legal(state), _sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_call":
            return legal[:1]
        frame = frame.f_back
    return legal
"""


@pytest.mark.parametrize("reuse", ["no", "yes"])
def test_a_module_that_tells_a_search_of_one_action_alone_voids_the_match(
    sandbox: Sandbox, reuse: str
) -> None:
    source = library.source("tic_tac_toe") + TELLS_A_SEARCH_ONE
    specs = [f"uct:simulations=8,reuse={reuse}", "random"]
    with pytest.raises(VoidResultError, match=r"gave \['x 1,1'\] to a search, and \['x 1,1', "):
        played(sandbox, "tic_tac_toe", specs, host_search=True, source=source)


GROWS = """
_sound = apply_action


def apply_action(state, action):
    filled = [[[]] * 20] * 4000  # 0.3 MB of JSON, and 25 times as much of lists
    return _sound({k: v for k, v in state.items() if k != "filled"}, action) | {"filled": filled}
"""


@pytest.mark.whole  # 800 MiB and half a minute
def test_few_heavy_states_are_enough_to_look_at_the_memory_of_the_host(sandbox: Sandbox) -> None:
    source = library.source("tic_tac_toe") + GROWS
    specs = ["uct:simulations=400", "random"]  # 768 MiB are a hundred states or so
    series = played(sandbox, "tic_tac_toe", specs, host_search=True, source=source)
    assert {entry.ending for entry in series.entries.values()} == {"fault"}
    assert all("MiB of the host" in entry.reason for entry in series.entries.values())
