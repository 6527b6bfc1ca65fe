"""Battleship: shoot at a hidden fleet and sink it before yours is sunk.

The default rules are those of the thesis benchmarks in TAG: fleets placed at random, one shot a
turn in strict alternation, and only hit or miss announced.
Kept in one file of more than 300 lines because a game module is one self-contained source.
"""

import random
from functools import lru_cache
from typing import Any, NamedTuple

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4
FILES = "abcdefghij"
START_OVER = "start over"
SEARCHES = 500
EXPLAINS = 8.0  # about as many places as another ship has that need not explain a hit

# fmt: off
GAME: dict[str, Any] = {
    "name": "battleship",
    "summary": "Fire at a hidden fleet cell by cell; whoever first sinks all ships wins.",
    "min_players": 2,
    "max_players": 2,
    "total": 0,
    "open": ["player", "targets", "afloat", "shots_left", "rewards"],
    "parameters": {
        "rows": {"default": 10, "range": [2, 10], "meaning": "Rows of each player's sea."},
        "columns": {"default": 10, "range": [2, 10], "meaning": "Columns of each player's sea."},
        "ships": {"default": "5,4,3,3,2",
            "format": "lengths from 1 to the longer side of the sea, with commas",
            "meaning": "Lengths of each player's ships, separated by commas."},
        "touching": {"default": True, "choices": [True, False],
            "meaning": "Ships may touch each other, also at corners."},
        "salvo": {"default": 1, "range": [1, 5], "meaning": "Shots in a turn."},
        "extra_shot_on_hit": {"default": False, "choices": [True, False],
            "meaning": "A hit does not use up a shot: the player fires again."},
        "announce_sunk": {"default": False, "choices": [True, False],
            "meaning": "Sinking a ship is announced together with the ship's length."},
    },
}
# fmt: on

ZONES = {
    "fleets.*": {"component": "ship", "owner": "each", "ordered": False},
    "shots.*": {"component": "counter", "owner": "table", "ordered": True},
}


class Tables(NamedTuple):
    """What depends on the size of the sea; a cell is one bit, row by row from the top.

    Attributes:
        bits: Name of a cell -> its bit.
        masks: Placement such as "a1-a5" -> bits of its cells.
        halos: Placement -> bits of its cells and all cells around them.
        placements: Length -> placements of a ship of that length.
    """

    bits: dict[str, int]
    masks: dict[str, int]
    halos: dict[str, int]
    placements: dict[int, tuple[str, ...]]


@lru_cache(maxsize=32)
def _tables(rows: int, columns: int) -> Tables:
    def bit(row: int, column: int) -> int:
        inside = 0 <= row < rows and 0 <= column < columns
        return 1 << (row * columns + column) if inside else 0

    def name(row: int, column: int) -> str:
        return f"{FILES[column]}{row + 1}"

    cells = [(row, column) for row in range(rows) for column in range(columns)]
    masks: dict[str, int] = {}
    halos: dict[str, int] = {}
    placements: dict[int, tuple[str, ...]] = {}
    for length in range(1, max(rows, columns) + 1):
        found = []
        for down, right in ((0, 1), (1, 0))[: 1 if length == 1 else 2]:
            for row, column in cells:
                ship = [(row + step * down, column + step * right) for step in range(length)]
                if not all(bit(*cell) for cell in ship):
                    continue
                text = f"{name(row, column)}-{name(*ship[-1])}"
                around = {
                    bit(r + i, c + j) for r, c in ship for i in (-1, 0, 1) for j in (-1, 0, 1)
                }
                masks[text] = sum(bit(*cell) for cell in ship)
                halos[text] = sum(around)
                found.append(text)
        placements[length] = tuple(found)
    return Tables({name(*cell): bit(*cell) for cell in cells}, masks, halos, placements)


def _settings(parameters: dict[str, Any]) -> dict[str, Any]:
    known = GAME["parameters"]
    unknown = sorted(parameters.keys() - known.keys())
    if unknown:
        raise ValueError(f"unknown parameter {', '.join(unknown)}; known: {', '.join(known)}")
    rules = {name: parameters.get(name, entry["default"]) for name, entry in known.items()}
    for name, entry in known.items():
        if name == "ships":
            continue
        allowed = entry.get("choices") or range(entry["range"][0], entry["range"][1] + 1)
        if type(rules[name]) is not type(entry["default"]) or rules[name] not in allowed:
            raise ValueError(f"{name} is {rules[name]!r}; allowed: {allowed}")
    return rules


def _lengths(ships: object, longest: int) -> list[int]:
    parts = ships.split(",") if isinstance(ships, str) else []
    if not parts or not all(part.strip().isdecimal() for part in parts):
        raise ValueError(f"ships is {ships!r}; required: lengths separated by commas, as '4,3,2'")
    lengths = sorted((int(part) for part in parts), reverse=True)
    if not 1 <= lengths[-1] <= lengths[0] <= longest:
        raise ValueError(f"ships is {ships!r}; on this sea a ship has 1 to {longest} cells")
    return lengths


def initial_state(num_players: int, **parameters: object) -> State:
    """Two empty seas, before chance places the fleets.

    Raises:
        ValueError: If a parameter is unknown or out of range, or the fleet does not fit.

    Rules: R1, R2, R3.
    """
    if num_players != 2:  # noqa: PLR2004
        raise ValueError(f"num_players is {num_players}; battleship is for exactly 2")
    rules = _settings(parameters)
    tables = _tables(rules["rows"], rules["columns"])
    lengths = _lengths(rules["ships"], max(rules["rows"], rules["columns"]))
    if not _fleet_fits(rules["rows"], rules["columns"], tuple(lengths), rules["touching"]):
        raise ValueError(
            f"ships is {rules['ships']!r}; no way was found to place them on {rules['rows']} rows "
            f"and {rules['columns']} columns; take fewer or shorter ships or a larger sea"
        )
    targets = ["fire " + cell for cell in tables.bits]
    return {
        "rules": rules,
        "lengths": lengths,
        "player": CHANCE,
        "fleets": [[], []],
        "shots": [[], []],
        "targets": [targets, targets],
        "afloat": [sum(lengths), sum(lengths)],
        "shots_left": rules["salvo"],
        "rewards": [0, 0],
    }


@lru_cache(maxsize=64)
def _fleet_fits(rows: int, columns: int, ships: tuple[int, ...], touching: bool) -> bool:
    tables, budget = _tables(rows, columns), [20000]

    def place(index: int, blocked: int) -> bool:
        if index == len(ships):
            return True
        for text in tables.placements[ships[index]]:
            budget[0] -= 1
            if budget[0] < 0:
                return False
            cover = tables.masks[text] if touching else tables.halos[text]
            if not tables.masks[text] & blocked and place(index + 1, blocked | cover):
                return True
        return False

    return place(0, 0)


def get_current_player(state: State) -> int:
    """The seat to fire, -1 while fleets are placed, -4 once the game is over.

    Rules: R3, R4, R6, R9.
    """
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """A display name: Player 1 for seat 0."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Every cell not yet fired at; at a chance event, every place for the next ship.

    Rules: R3, R5.
    """
    player = state["player"]
    if player < 0:
        return _places(state) if player == CHANCE else []
    targets: list[str] = state["targets"][player]
    return targets


def _places(state: State) -> list[str]:
    rules, lengths = state["rules"], state["lengths"]
    fleet = state["fleets"][0 if len(state["fleets"][0]) < len(lengths) else 1]
    tables = _tables(rules["rows"], rules["columns"])
    blocked, masks = _blocked(tables, fleet, rules["touching"]), tables.masks
    free = [text for text in tables.placements[lengths[len(fleet)]] if not masks[text] & blocked]
    return ["ship " + text for text in free] or [START_OVER]


def _blocked(tables: Tables, fleet: list[str], touching: bool) -> int:
    """Cells that no further ship may take."""
    cover, blocked = tables.masks if touching else tables.halos, 0
    for text in fleet:
        blocked |= cover[text]
    return blocked


def parse_action(action: str) -> dict[str, str]:
    """The action in parts: "fire" with a cell, or "ship" with its first and last cell.

    Rules: R3, R5.
    """
    kind, _, where = action.partition(" ")
    if kind == "ship":
        first, last = where.split("-")
        return {"kind": kind, "first": first, "last": last}
    return {"kind": kind, "cell": where} if kind == "fire" else {"kind": action}


def apply_action(state: State, action: str) -> State:
    """The state after a ship was placed or a shot was fired.

    Raises:
        ValueError: If the action is not legal.

    Rules: R3, R5, R6, R7, R8, R9, R10, R11.
    """
    player = state["player"]
    kind, _, where = action.partition(" ")
    if player < 0:
        if action not in get_legal_actions(state):
            raise ValueError(f"{action!r} is not legal; it must be one of get_legal_actions()")
        return _placed(state, where if kind == "ship" else None)
    targets, shots = state["targets"].copy(), state["shots"].copy()
    targets[player] = left = targets[player].copy()
    try:
        left.remove(action)
    except ValueError:
        legal = ", ".join(state["targets"][player])
        raise ValueError(f"{action!r} is not legal; legal: {legal}") from None
    result = _result(state, 1 - player, where, state["shots"][player])
    shots[player] = [*shots[player], f"{where} {result}"]
    after = {**state, "targets": targets, "shots": shots}
    if result == "miss" or not state["rules"]["extra_shot_on_hit"]:
        after["shots_left"] -= 1
    if result != "miss":
        after["afloat"] = afloat = state["afloat"].copy()
        afloat[1 - player] -= 1
        if not afloat[1 - player]:
            rewards = [1, -1] if player == 0 else [-1, 1]
            return {**after, "player": TERMINAL, "rewards": rewards}
    if not after["shots_left"]:
        after["player"] = 1 - player
        after["shots_left"] = state["rules"]["salvo"]
    return after


def _placed(state: State, ship: str | None) -> State:
    fleets, size = state["fleets"].copy(), len(state["lengths"])
    seat = 0 if len(fleets[0]) < size else 1
    fleets[seat] = [] if ship is None else [*fleets[seat], ship]
    done = len(fleets[1]) == size
    return {**state, "fleets": fleets, "player": 0 if done else CHANCE}


def _result(state: State, target: int, cell: str, earlier: list[str]) -> str:
    """What is announced of a shot: miss, hit, or sunk with the ship's length."""
    rules = state["rules"]
    tables = _tables(rules["rows"], rules["columns"])
    bit, masks = tables.bits[cell], tables.masks
    for text in state["fleets"][target]:
        ship = masks[text]
        if ship & bit:
            break
    else:
        return "miss"
    if not rules["announce_sunk"]:
        return "hit"
    fired = bit
    for shot in earlier:
        fired |= tables.bits[shot.split()[0]]
    return f"sunk {ship.bit_count()}" if ship & fired == ship else "hit"


def get_rewards(state: State) -> list[float]:
    """One for sinking the other fleet, minus one for losing the own.

    Rules: R12.
    """
    rewards: list[float] = state["rewards"]
    return rewards


def value_function(state: State, player_id: int) -> float:
    """At the end the reward; before it, nine tenths of the share by which the fleets differ.

    A fleet's share is that of its cells that are not hit.

    Rules: R12.
    """
    if state["player"] == TERMINAL:
        reward: float = state["rewards"][player_id]
        return reward
    afloat, cells = state["afloat"], sum(state["lengths"])
    return 0.9 * float(afloat[player_id] - afloat[1 - player_id]) / cells


def get_observations(state: State) -> list[dict[str, Any]]:
    """The own fleet, and all shots with what was announced of them.

    Rules: R13, R14.
    """
    seen = {
        "to_move": state["player"],
        "shots": state["shots"],
        "shots_left": state["shots_left"],
        "afloat": state["afloat"],
        "ships_placed": [len(fleet) for fleet in state["fleets"]],
        "lengths": state["lengths"],
        "rules": state["rules"],
    }
    return [{**seen, "you": seat, "fleet": state["fleets"][seat]} for seat in (0, 1)]


def get_events(state: State, action: str) -> list[list[str]]:
    """Shots and their results for both players; where a ship lies for its owner alone.

    Rules: R3, R7, R8, R9, R14.
    """
    kind, _, where = action.partition(" ")
    after, size = apply_action(state, action), len(state["lengths"])
    if kind != "fire":
        seat = 0 if len(state["fleets"][0]) < size else 1
        name = get_player_name(seat)
        if action == START_OVER:
            told = [[f"The ships of {name} do not fit and are placed anew."] for _ in (0, 1)]
        else:
            told = [[f"A ship is placed for {name}."] for _ in (0, 1)]
            told[seat] = [f"Your ship is placed at {where}."]
        return told
    player = state["player"]
    name = get_player_name(player)
    result = after["shots"][player][-1].partition(" ")[2]
    sunk = result.startswith("sunk")
    words = f"it sinks a ship of {result[5:]}" if sunk else f"a {result}"
    events = [f"{name} fires at {where}: {words}."]
    if after["player"] == TERMINAL:
        events.append(f"{name} has sunk the whole fleet and wins.")
    return [events, events]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Only the owner sees a fleet; all shots are known.

    Rules: R13, R14.
    """
    del state
    seen = {"shots.0": "contents", "shots.1": "contents"}
    for seat in (0, 1):
        seen[f"fleets.{seat}"] = "contents" if seat == player_id else "count"
    return seen


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """A random state whose other fleet explains every announced shot.

    Ships are laid over the hits first, then the rest at random; re-placing every ship in turn
    among all places that fit (Gibbs sampling) evens the draw out.

    Rules: R3, R7, R8, R13, R14.
    """
    seen = obs_action_history[-1][0]
    rules, other = seen["rules"], 1 - player_id
    known = _known(
        (rules["rows"], rules["columns"], rules["touching"], rules["announce_sunk"]),
        tuple(seen["lengths"][: seen["ships_placed"][other]]),
        tuple(seen["shots"][player_id]),
    )
    searches = (_searched(known) for _ in range(SEARCHES))
    fleet = next((found for found in searches if found is not None), None)
    if fleet is None:
        raise RuntimeError(
            f"no fleet explains the announced shots after {SEARCHES} searches; the history must "
            "hold an observation made by this module"
        )
    _mix(known, fleet)
    fleets = [seen["fleet"], fleet] if other else [fleet, seen["fleet"]]
    losers = [not left for left in seen["afloat"]]
    return {
        "rules": rules,
        "lengths": seen["lengths"],
        "player": seen["to_move"],
        "fleets": fleets,
        "shots": seen["shots"],
        "targets": [
            [*_targets(rules["rows"], rules["columns"], tuple(shots))] for shots in seen["shots"]
        ],
        "afloat": seen["afloat"],
        "shots_left": seen["shots_left"],
        "rewards": [losers[1] - losers[0], losers[0] - losers[1]],
    }


@lru_cache(maxsize=8)
def _targets(rows: int, columns: int, shots: tuple[str, ...]) -> tuple[str, ...]:
    """Every shot that is left after these."""
    fired = {shot.split()[0] for shot in shots}
    return tuple("fire " + cell for cell in _tables(rows, columns).bits if cell not in fired)


class _Known:
    """What the shots tell about the other fleet, as bits.

    Attributes:
        open: Length -> places of such a ship that no miss rules out.
        over: Bit of a hit -> length -> those of them that cover it.
        clear: Length -> those of them that cover no hit.
    """

    def __init__(
        self,
        tables: Tables,
        lengths: tuple[int, ...],
        shots: tuple[str, ...],
        *,
        touching: bool,
        announced: bool,
    ) -> None:
        self.tables = tables
        self.touching = touching
        self.announced = announced
        self.lengths = [*lengths]
        self.shots = [shot.split() for shot in shots]
        self.hits = self.misses = 0
        self.sunk: list[tuple[int, int, int]] = []
        for cell, result, *length in self.shots:
            bit = tables.bits[cell]
            if result == "miss":
                self.misses |= bit
                continue
            self.hits |= bit
            if result == "sunk":
                self.sunk.append((int(length[0]), bit, self.hits))
        masks, sizes = tables.masks, sorted(set(lengths))
        self.open = {
            length: [text for text in tables.placements[length] if not masks[text] & self.misses]
            for length in sizes
        }
        self.clear = {
            length: [text for text in self.open[length] if not masks[text] & self.hits]
            for length in sizes
        }
        self.bits = [bit for bit in tables.bits.values() if bit & self.hits]
        self.over = {
            bit: {
                length: [text for text in self.open[length] if masks[text] & bit]
                for length in sizes
            }
            for bit in self.bits
        }

    def explains(self, fleet: list[str]) -> bool:
        """Whether this fleet would have been announced just so."""
        masks = [self.tables.masks[text] for text in fleet]
        if not self.announced:
            cells = sum(masks)  # ships never overlap
            return cells & self.hits == self.hits and not cells & self.misses
        fired = 0
        for cell, result, *length in self.shots:
            bit = self.tables.bits[cell]
            fired |= bit
            ship = next((mask for mask in masks if mask & bit), 0)
            down = ship and ship & fired == ship
            if result != ("sunk" if down else "hit" if ship else "miss"):
                return False
            if down and ship.bit_count() != int(length[0]):
                return False
        return True


@lru_cache(maxsize=8)
def _known(
    rules: tuple[int, int, bool, bool], lengths: tuple[int, ...], shots: tuple[str, ...]
) -> _Known:
    """What is known after these shots; a decision asks for many fleets after the same ones."""
    rows, columns, touching, announced = rules
    tables = _tables(rows, columns)
    return _Known(tables, lengths, shots, touching=touching, announced=announced)


def _searched(known: _Known) -> list[str] | None:
    """One fleet by a randomised search: sunk ships, then open hits, then the rest."""
    tables, masks = known.tables, known.tables.masks
    left = known.lengths.copy()
    fleet: list[str] = []
    for length, bit, hits in known.sunk:
        blocked = _blocked(tables, fleet, known.touching)
        over = [
            text
            for text in tables.placements[length]
            if masks[text] & bit and masks[text] & hits == masks[text] and not masks[text] & blocked
        ]
        if not over:
            return None
        fleet.append(random.choice(over))
        left.remove(length)
    while left:
        taken = 0
        for text in fleet:
            taken |= masks[text]
        options, weights = _next_options(known, fleet, left, known.hits & ~taken)
        if not options:
            return None
        text = random.choices(options, weights)[0] if weights else random.choice(options)
        fleet.append(text)
        left.remove(masks[text].bit_count())
    fleet.sort(key=lambda text: -masks[text].bit_count())
    return fleet if known.explains(fleet) else None


def _next_options(
    known: _Known, fleet: list[str], left: list[int], open_hits: int
) -> tuple[list[str], list[float]]:
    """Places over one open hit, with weights, or places for the longest ship left, all alike.

    A ship that could lie in many other places is the less likely one to lie here; one that explains
    several hits leaves the other ships free, so it is the more likely one.
    """
    masks = known.tables.masks
    blocked = _blocked(known.tables, fleet, known.touching)
    if not open_hits:
        return [text for text in known.clear[left[0]] if not masks[text] & blocked], []
    over = known.over[random.choice([bit for bit in known.bits if bit & open_hits])]
    options: list[str] = []
    weights: list[float] = []
    for length in sorted(set(left)):
        places = [
            text
            for text in over[length]
            if not masks[text] & blocked
            and not (known.announced and masks[text] & known.hits == masks[text])
        ]
        options += places
        share = left.count(length) / max(len(known.clear[length]), 0.5)
        weights += [share * EXPLAINS ** (masks[text] & open_hits).bit_count() for text in places]
    return options, weights


def _mix(known: _Known, fleet: list[str], sweeps: int = 2) -> None:
    """Re-place every ship among all places that explain the shots, given the other ships."""
    masks = known.tables.masks
    for _ in range(sweeps):
        for index, length in enumerate(known.lengths):
            rest = [text for place, text in enumerate(fleet) if place != index]
            blocked = _blocked(known.tables, rest, known.touching)
            needed = known.hits
            for text in rest:
                needed &= ~masks[text]
            places = known.clear[length]
            if needed:
                places = known.over[needed & -needed][length]
            elif known.hits:
                places = known.open[length]
            ways = [t for t in places if not masks[t] & blocked and masks[t] & needed == needed]
            if known.announced:
                ways = [t for t in ways if known.explains([*fleet[:index], t, *fleet[index + 1 :]])]
            fleet[index] = random.choice(ways)
