"""Pairs of matches that stay near each other, what tells the two apart, and the odds of it.

An outcome of chance that moves a component in which two positions differ, such as a card that is
drawn, may well be possible in one alone. What all other outcomes together tell the seat must be as
likely in both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from numpy.random import Generator

from games.checks.sampling import PlayedMatch
from games.checks.zones import Sight, exchanged_components, moved_components
from games.table import Position, Table
from games.values import CHANCE, TERMINAL, Action, Json, canonical_key, show

_TRIES = 6  # outcomes tried in the place of one, or of which odds differ, before all are
_SAME = 1e-12  # by which odds may differ
_SHOWN = 3


@dataclass(frozen=True)
class Step:
    """An action, the positions around it, and what the audit's seat may see of the second."""

    before: Position
    action: Action
    after: Position
    sight: Sight


def in_turn(*lists: Sequence[int]) -> list[int]:
    """One of each list, then the next of each, as long as there are any.

    >>> in_turn([1, 2, 3], [7])
    [1, 7, 2, 3]
    """
    mixed = chain.from_iterable(zip_longest(*lists))
    return [item for item in mixed if item is not None]


def near_places(
    played: Sequence[PlayedMatch], seat: int, generator: Generator
) -> list[list[tuple[int, int]]]:
    """By match, the plies at which another seat or chance could have done something else.

    Every second one is a ply that not all seats were told the same of, while there are any. Of
    both, kinds of action take turns: what is told of one kind may be told of few plies.
    """
    places = []
    for number, match in enumerate(played):
        kinds: dict[bool, dict[str, list[int]]] = {True: {}, False: {}}
        for ply in map(int, generator.permutation(len(match.plies))):
            before, after = match.positions[ply : ply + 2]
            if before.player != seat and len(before.legal) > 1:
                kind = match.plies[ply].action.partition(" ")[0]
                kinds[len(set(after.events)) > 1].setdefault(kind, []).append(ply)
        secret, others = (in_turn(*by_kind.values()) for by_kind in kinds.values())
        places.append([(number, ply) for ply in in_turn(secret, others)])
    return places


def all_told(position: Position, seat: int) -> dict[str, str]:
    """All that a seat is told when a position is reached, by the function that tells it."""
    mine = position.player in (seat, TERMINAL)
    return {
        "get_observations": canonical_key(position.observations[seat]),
        "get_events": canonical_key([*position.events[seat]]),
        "get_current_player": str(position.player if mine else None),
        "get_legal_actions": canonical_key([*position.legal] if position.player == seat else []),
    }


def near_choices(
    match: PlayedMatch,
    step: int,
    here: Position,
    generator: Generator,
    *,
    parts: bool,
) -> list[Action]:
    """Actions to try in a match that is to stay near a recorded one, the nearest first.

    Such as a card that was dealt elsewhere: what the recorded match could not do here. Where the
    two matches part here (`parts`), what the recorded one does not do later on: they are alike for
    longer.
    """
    taken, later = match.plies[step].action, match.plies[step + 1 :]
    could = {ply.action for ply in later} if parts else set(match.positions[step].legal)
    others = [here.legal[int(i)] for i in generator.permutation(len(here.legal))]
    others = sorted((a for a in others if a != taken), key=lambda action: action in could)
    same = [taken] if taken in here.legal and not parts else []
    return [*same, *others][:_TRIES]


def first_difference(one: Json, other: Json) -> str:
    """The path of the first value in which two states differ.

    >>> first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})
    'a.1.b'
    """
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        one, other = ({str(i): item for i, item in enumerate(part)} for part in (one, other))
    if not (isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()):
        return ""
    key = next(k for k in one if canonical_key(one[k]) != canonical_key(other[k]))
    return f"{key}.{first_difference(one[key], other[key])}".rstrip(".")


def how_told(function: str, one: Position, other: Position, seat: int) -> str:
    """The end of a sentence that says by which words a seat tells two positions apart."""
    if function == "get_observations":
        seen = one.observations[seat], other.observations[seat]
        keys = sorted(
            key
            for key in seen[0].keys() | seen[1].keys()
            if canonical_key(seen[0].get(key)) != canonical_key(seen[1].get(key))
        )
        names = ", ".join(map(repr, keys))
        return f"sees hidden contents: its observation changes in {names}"
    if function == "get_events":
        events = [list(position.events[seat]) for position in (one, other)]
        return f"is told {show(events[0])} or {show(events[1])}"
    if function == "get_legal_actions":
        return "has other legal actions"
    return "is to move, or at the end, in one of them alone"


def how_to_mend(step: Step) -> str:
    """Advice for a step that told a seat of a hidden difference."""
    told = "do not tell it; or, where the rules tell it (a clue), keep what was told at a "
    told += 'path that GAME["open"] names, or, where not all are told, in a zone of those who are'
    if step.before.player == CHANCE:
        told += ", or a component that is dealt face up in a zone of its kind that `visible` shows"
    return told


def listed(names: Iterable[str]) -> str:
    """Names in their order, in words.

    >>> listed({"hands.*", "deck"}), listed([])
    ('deck, hands.*', 'nothing')
    """
    return ", ".join(sorted(names)) or "nothing"


def how_to_compare(seat: int, beside: Iterable[str]) -> str:
    """Advice for hidden zones that never differ alone, but with values beside them."""
    told = f"where seat {seat} can work out what lies there, as it saw all that went in, let "
    told += '`visible` show it as "contents"; else see that these zones of ZONES hold the hidden '
    told += "components themselves, and that no open value tells them"
    if names := ", ".join(sorted(beside)):
        told += f"; {names} differed with them: where that is dealt from them face up, make it a "
        told += "zone of the same component, which `visible` shows"
    return told


def unlike_outcomes(one: Position, other: Position) -> list[list[Action]]:
    """By position, the outcomes that are not as likely in the other; none where chance rests."""
    odds = [_odds(position) for position in (one, other)]
    if not one.player == other.player == CHANCE:
        return [[], []]
    return [
        [action for action, p in mine.items() if abs(p - others.get(action, 0.0)) > _SAME]
        for mine, others in (odds, odds[::-1])
    ]


def unlike_odds(
    places: Sequence[tuple[Table, Position]],
    zones: Mapping[str, Json],
    seat: int,
    generator: Generator,
) -> str:
    """The odds that tell a seat of hidden components, in words; "" where there are none.

    Args:
        places: Two positions that differ only in what is hidden from the seat, each with a table.
        zones: The module's `ZONES`.
        seat: Who is told.
        generator: Chooses what is tried first.
    """
    positions = [position for _, position in places]
    hidden = exchanged_components(positions[0].state, positions[1].state, zones)

    def heard(side: int, action: Action) -> str | None:
        table, here = places[side]
        after = table.advance(here, action)
        moved = moved_components(here.state, after.state, zones)
        return None if hidden & moved else canonical_key({**all_told(after, seat)})

    tried = [
        heard(side, actions[int(index)])
        for side, actions in enumerate(unlike_outcomes(positions[0], positions[1]))
        for index in generator.permutation(len(actions))[: _TRIES // 2]
    ]
    if set(tried) == {None}:
        return ""
    tried += [heard(side, position.legal[0]) for side, position in enumerate(positions)]
    if len({*tried} - {None}) == 1:
        return ""
    sums: list[dict[str, float]] = [{}, {}]
    for side, position in enumerate(positions):
        for action, chance in _odds(position).items():
            if (key := heard(side, action)) is not None:
                sums[side][key] = sums[side].get(key, 0.0) + chance
    return "" if _in_proportion(*sums) else _shown(positions)


def _odds(position: Position) -> dict[Action, float]:
    return dict(zip(position.legal, position.probabilities, strict=False))


def _in_proportion(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """True for tables of chances that are equal up to a factor; an empty one equals any.

    >>> _in_proportion({"a": 0.2, "b": 0.2}, {"a": 0.5, "b": 0.5}), _in_proportion({"a": 1.0}, {})
    (True, True)
    >>> _in_proportion({"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1})
    False
    """
    if not one or not other:
        return True
    if one.keys() != other.keys():
        return False
    totals = sum(one.values()), sum(other.values())
    return all(abs(one[key] / totals[0] - other[key] / totals[1]) <= _SAME for key in one)


def _shown(positions: Sequence[Position]) -> str:
    """The outcomes of two positions that differ, with their chances.

    >>> coin = [Position({}, CHANCE, (a,), (1.0,), (), (), ()) for a in ("heads", "tails")]
    >>> _shown(coin)
    "{'heads': 1.0} or {'tails': 1.0}"
    """
    told = []
    for position, unlike in zip(positions, unlike_outcomes(*positions), strict=True):
        odds = _odds(position)
        likely = sorted(unlike, key=lambda action: -odds[action])[:_SHOWN]
        told.append(show({action: odds[action] for action in likely}))
    return " or ".join(told)
