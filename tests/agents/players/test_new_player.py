"""A new player: one file and one row, told to nobody else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import agents

PLAYER = '''
"""The player that follows the alphabet."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from agents.players.specs import Seating
from agents.search.settings import PlayerSettings
from games.engine import Decision, Effort
from tools.playtest.jobs import PlayerSpec


class AlphabetSettings(PlayerSettings):
    """Settings of the alphabet."""

    end: Annotated[Literal["first", "last"], Field(description="Which action is played.")] = "first"
    offset: Annotated[int, Field(ge=0, le=9, description="Actions passed over.")] = 0


class AlphabetPlayer:
    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        self.settings = spec.part(AlphabetSettings)

    def choose(self, log, legal, generator: np.random.Generator) -> Decision:
        order = sorted(legal, reverse=self.settings.end == "last")
        action = order[self.settings.offset % len(order)]
        return Decision(action, Effort("alphabet", more=self.settings.model_dump()))

    def close(self) -> None:
        pass
'''
PLAYER_ROW = '"alphabet": PlayerKind("Follows the alphabet.", AlphabetPlayer, (AlphabetSettings,)),'

SEARCH = '''
"""The search that takes the first action it is sure of."""

from typing import Annotated

import numpy as np
from pydantic import Field

from agents.search.settings import SearchView
from agents.search.settings import PlayerSettings, SearchResult


class FirstSettings(PlayerSettings):
    """Settings of the first action."""

    tries: Annotated[int, Field(ge=1, le=5, description="Hidden states that are looked at.")] = 2


def decide(
    view: SearchView, settings: FirstSettings, generator: np.random.Generator
) -> SearchResult:
    states = [view.determinize() for _ in range(settings.tries)]
    actions = tuple(view.rules.legal_actions(states[0]))
    visits = tuple(settings.tries * (action == actions[0]) for action in actions)
    return SearchResult(actions, visits, (None,) * len(actions), settings.tries, 1, 0)
'''
SEARCH_ROW = '"first": Algorithm("Takes the first action.", first.FirstSettings, first.decide),'


def added(folder: Path, name: str, source: str, registry: str, import_row: str, row: str) -> None:
    """Write a player's file into a copy of the house, and its row into a registry."""
    (folder / "agents" / name).write_text(source, "utf-8")
    path = folder / "agents" / registry
    head, opening, rest = path.read_text("utf-8").partition("] = {\n")
    path.write_text(f"{import_row}\n{head}{opening}    {row}\n{rest}", "utf-8")


def rulewright(folder: Path, *arguments: str) -> str:
    """What the command of a copy of the house says."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from app.cli import main; main()", *arguments],
        env={**os.environ, "PYTHONPATH": str(folder), "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 2), done.stderr
    return done.stdout or done.stderr


def test_a_new_player_is_one_file_and_one_row(tmp_path: Path) -> None:
    house = Path(agents.__path__[0]).parent
    for room in ("agents", "app", "games", "graph", "tools", "vectorstore"):
        shutil.copytree(house / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    row = "from agents.players.alphabet import AlphabetPlayer, AlphabetSettings"
    added(tmp_path, "players/alphabet.py", PLAYER, "players/registry.py", row, PLAYER_ROW)
    row = "from agents.search import first"
    added(tmp_path, "search/first.py", SEARCH, "search/algorithms.py", row, SEARCH_ROW)

    rows = json.loads(rulewright(tmp_path, "players", "--json"))["players"]
    listed = {row["name"]: row["parameters"] for row in rows}
    assert listed["alphabet"]["end"]["choices"] == ["first", "last"]
    assert listed["alphabet"]["offset"]["most"] == 9
    beside = {"belief", "determinizations", "protocol", "deadline"}
    assert listed["first"].keys() == {"tries"} | beside
    assert "required: a whole number >= 0 and <= 9" in rulewright(
        tmp_path, "match", "kuhn_poker", "--player", "random", "--player", "alphabet:offset=10"
    )

    # The searching one decides in its sandboxed worker, in hidden states that are sampled there.
    specs = ["alphabet:end=last", "first:tries=3"]
    players = [part for spec in specs for part in ("--player", spec)]
    played = rulewright(
        tmp_path, "match", "kuhn_poker", *players, "--games", "4", "--seed", "1", "--json"
    )
    result = json.loads(played)
    assert result["played"] == 4
    alphabet, first = result["entrants"]
    assert alphabet["player"] == "alphabet:end=last,offset=0"
    assert first["player"].startswith("first:tries=3,belief=auto")
    assert first["used"]["figures"]["tries"]["most"] == 3
    assert first["used"]["figures"]["simulations_done"]["most"] == 3
    assert set(first["used"]["words"]["belief"]) == {"resample_state"}  # the game's own
