"""Equality of values: strict, by type and value, as the contract's JSON."""

from games.contract import Json, canonical_key, require_json
from games.values import is_number


def same_value(value: Json, expected: Json) -> bool:
    """Whether two JSON values are the same, strictly: True is not 1 and 1 is not 1.0.

    The order of a dict's keys does not matter.

    Raises:
        ModuleFault: If either is no contract JSON (a tuple, a set, a key that is no string, NaN).

    >>> same_value({"a": 1, "b": [True]}, {"b": [True], "a": 1})
    True
    >>> same_value([1], [True]), same_value([1], [1.0])
    (False, False)
    """
    require_json(value, "value")
    require_json(expected, "value", "expected value")
    return canonical_key(value) == canonical_key(expected)


def as_numbers(rewards: Json) -> Json:
    """Rewards as the contract reads them: numbers, whether written 1, 1.0 or -0.0; a bool is none.

    >>> as_numbers([1, -0.0, True])
    [1.0, 0.0, True]
    """
    if not isinstance(rewards, list):
        return rewards
    return [float(n) + 0.0 if is_number(n) else n for n in rewards]
