from typing import Literal, NamedTuple

import pytest

from games.values import Json
from tools.guest.protocol import AdvanceRequest, ColumnsRequest, Envelope, MessageError, decoded


class Deep(NamedTuple):
    names: list[str]
    shares: dict[str, float]
    words: list[int] | None
    kind: Literal["a", "b"]
    anything: Json = None
    is_on: bool = False


GOOD: dict[str, Json] = {"names": ["x"], "shares": {"x": 1}, "words": None, "kind": "a"}


def test_a_payload_is_read_field_by_field_and_defaults_fill_the_rest() -> None:
    assert decoded(Deep, GOOD) == Deep(["x"], {"x": 1}, None, "a")
    assert decoded(Deep, {**GOOD, "words": [1], "anything": [{}], "is_on": True}).words == [1]
    assert decoded(AdvanceRequest, {"state": {}, "action": "a"}) == AdvanceRequest({}, "a")


@pytest.mark.parametrize(
    "change",
    [
        {"names": ["x", 1]},
        {"names": "x"},
        {"shares": {"x": "1"}},
        {"shares": {"x": True}},
        {"words": [1.0]},
        {"words": ["1"]},
        {"kind": "c"},
        {"kind": ["a"]},
        {"is_on": 1},
        {"unknown": 1},
    ],
)
def test_a_field_of_another_type_is_refused_before_and_after_a_good_one(
    change: dict[str, Json],
) -> None:
    for _ in range(2):
        with pytest.raises(MessageError):
            decoded(Deep, {**GOOD, **change})
        decoded(Deep, GOOD)


@pytest.mark.parametrize(
    "payload", [None, [], "{}", {}, {"state": {}}, {"state": [], "action": ""}]
)
def test_what_is_no_such_message_is_refused(payload: Json) -> None:
    with pytest.raises(MessageError):
        decoded(AdvanceRequest, payload)


def test_a_deadline_may_be_a_whole_number_and_no_truth_value() -> None:
    fields: dict[str, Json] = {"id": 1, "op": "ping", "payload": {}}
    assert decoded(Envelope, {**fields, "soft_s": 2}).soft_s == 2
    with pytest.raises(MessageError):
        decoded(Envelope, {**fields, "soft_s": True})


def test_a_call_of_columns_is_a_function_and_its_arguments() -> None:
    assert list(ColumnsRequest([["f", [1]]]).pairs()) == [("f", [1])]
    with pytest.raises(MessageError, match="no pair"):
        list(ColumnsRequest([["f", 1]]).pairs())
