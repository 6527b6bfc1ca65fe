"""Two small games and a preset, as a library to index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from games.corpus import CorpusGame
from vectorstore.sources import Library, LibraryGame

DICE = LibraryGame(
    name="dice_race",
    family="dice_race",
    players=2,
    game={
        "name": "dice_race",
        "summary": "Roll a die and race to a target score.",
        "min_players": 2,
        "max_players": 4,
        "parameters": {
            "target": {"default": 20, "range": [5, 50], "meaning": "Points needed to win."},
            "bust": {"default": False, "choices": [True, False], "meaning": "A one loses all."},
        },
    },
    source='def apply_action(state, action):\n    """Roll or hold.\n\n    Rules: R1, R2.\n    """\n'
    "    return state\n\n\ndef _face(action):\n    return int(action)\n",
    rulebook="# Dice race\n\nRace.\n\n## Turn\n\n- R1: A player rolls one die.\n",
    template="# Dice race\n\nRace.\n\n## Turn\n\n- R1: A player rolls one die.\n"
    "{% if bust %}\n- R2: A rolled one loses the turn's points.\n{% endif %}\n",
)
TRICKS = LibraryGame(
    name="tricks",
    family="tricks",
    players=4,
    game={
        "name": "tricks",
        "summary": "Follow suit; the highest card takes the trick.",
        "min_players": 3,
        "max_players": 4,
        "parameters": {},
    },
    source="def get_legal_actions(state):\n"
    '    """Cards that may be played.\n\n    Rules: R1.\n    """\n'
    "    return []\n",
    rulebook="# Tricks\n\n## Legal Actions\n\n- R1: Players must follow suit when they can.\n",
    template="# Tricks\n\n## Legal Actions\n\n- R1: Players must follow suit when they can.\n",
)
WHIST = replace(TRICKS, name="whist")


@dataclass
class TinyLibrary(Library):
    """A library that counts how often it is read."""

    held: Sequence[LibraryGame] = (DICE, TRICKS, WHIST)
    edition: str = "1"
    told: Mapping[str, CorpusGame] = field(default_factory=dict)
    read: int = field(default=0)

    def fingerprint(self) -> str:
        return self.edition

    def corpus(self) -> Mapping[str, CorpusGame]:
        return self.told

    def games(self) -> Sequence[LibraryGame]:
        self.read += 1
        return self.held
