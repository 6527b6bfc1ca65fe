"""Values of the contract: one form of each, and a sentence for what is none."""

import math

import pytest

from games.values import ModuleFault, canonical_key, require_json


def test_a_canonical_key_is_sorted_and_of_ascii_alone() -> None:
    key = canonical_key({"b": [1, None], "\u00e9": {"z": True, "a": 1.5}, "a": "\u2665"})
    assert key == '{"a":"\\u2665","b":[1,null],"\\u00e9":{"a":1.5,"z":true}}'


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": {1: 2}}, r"value\['a'\] has the key 1; required: string keys"),
        ([0.5, math.nan], r"value\[1\] is nan; required: a finite number"),
        ({"a": [{"b": (1,)}]}, r"value\['a'\]\[0\]\['b'\] is a tuple"),
        ({1}, "value is a set"),
    ],
)
def test_what_is_no_json_is_named_with_its_place(value: object, told: str) -> None:
    with pytest.raises(ModuleFault, match=told):
        require_json(value, "apply_action", "value")


def test_what_a_module_says_is_kept_to_a_page() -> None:
    fault = ModuleFault("bad_value", "get_legal_actions", f"gave {'x' * 1_000_000}", line=3)
    assert fault.message.endswith("... (996005 characters more)")  # of 1,000,005, but for 4,000
    assert len(str(fault)) < 4_200
