"""Take what is known to be weaker, keep away from what is stronger, probe the rest with low ranks.

The flag is set up in a corner of the back row with bombs around it. An attack on an unknown piece
is worth its chance to win, over the kinds not yet seen, less what stands to be lost; above all the
flag may be among the pieces that have never moved. Without a fight, pieces go forward.
"""

from collections import Counter
from typing import Any

FLAG, BOMB, SPY, SCOUT, MINER = "F", "B", "S", "2", "3"


def score(observation: dict[str, Any], action: str) -> float:
    """Expected gain of an attack, or of going forward, in ranks; larger is better."""
    if action.startswith("put "):
        return _placed(observation, *action.split()[1::2])
    you = observation["you"]
    here, there = action.replace("x", "-").split("-")
    own = observation["ranks"][you][observation["cells"][you].index(here)]
    if "x" in action:
        index = observation["cells"][1 - you].index(there)
        return _attack(observation, own, index)
    forward = (int(there[1:]) - int(here[1:])) * (1, -1)[you]
    value: float = 0.3 * forward + 0.02 * _worth(own) * (forward > 0)
    if _threatened(observation, there, own):
        value -= _worth(own)
    if _threatened(observation, here, own):
        value += 0.8 * _worth(own)
    return value


def _attack(seen: dict[str, Any], own: str, index: int) -> float:
    you, rules = seen["you"], seen["rules"]
    known = seen["ranks"][1 - you][index]
    if known != "?":
        return _fight(rules, own, known)
    left = _unknown(seen)
    if seen["moved"][1 - you][index]:
        left = Counter({kind: n for kind, n in left.items() if kind not in (FLAG, BOMB)})
    total = sum(left.values())
    expected = sum(n * _fight(rules, own, kind) for kind, n in left.items()) / max(total, 1)
    return expected + 0.5


def _unknown(seen: dict[str, Any]) -> Counter[str]:
    """Kinds of the other army, which equals the own one, that have not been seen yet."""
    you = seen["you"]
    left = Counter(seen["ranks"][you])
    left.subtract(kind for kind in seen["ranks"][1 - you] if kind != "?")
    return Counter({kind: n for kind, n in left.items() if n > 0})


def _fight(rules: dict[str, Any], own: str, other: str) -> float:
    """What is won less what is lost."""
    if other == FLAG:
        return 100.0
    if other == BOMB:
        if own == MINER and rules["miners"]:
            return 3.0
        return -_worth(own)
    if own == other:
        lost = {"both": 0.0, "attacker": -1.0, "defender": 1.0}[rules["equal_ranks"]]
        return 0.1 + lost * _worth(own)
    wins = own == SPY and other == str(rules["top_rank"]) or _rank(own) > _rank(other)
    return _worth(other) if wins else -_worth(own)


def _threatened(seen: dict[str, Any], cell: str, own: str) -> bool:
    """Whether a known stronger piece stands beside the cell."""
    you = seen["you"]
    column, row = ord(cell[0]), int(cell[1:])
    for where, kind in zip(seen["cells"][1 - you], seen["ranks"][1 - you], strict=True):
        if where and kind not in ("?", FLAG, BOMB):
            distance = abs(ord(where[0]) - column) + abs(int(where[1:]) - row)
            if distance == 1 and _rank(kind) > _rank(own):
                return True
    return False


def _rank(kind: str) -> int:
    return 1 if kind == SPY else int(kind)


def _worth(kind: str) -> float:
    return 3.0 if kind in (SPY, MINER) else float(kind)


def _placed(seen: dict[str, Any], kind: str, cell: str) -> float:
    """The flag in the first corner, bombs beside it, low ranks behind and high ranks in front."""
    you, rules = seen["you"], seen["rules"]
    done = len([rank for rank in seen["ranks"][you] if rank])
    row, column = divmod(done, rules["columns"])
    if kind == FLAG:
        return 20.0 if done == 0 else -20.0
    if kind == BOMB:
        return 15.0 if row + column == 1 else 1.0 - row
    return float(_rank(kind)) * (1.0 if row == rules["home_rows"] - 1 else -0.5)
