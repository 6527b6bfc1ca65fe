import pytest

from games.values import Json
from tools.guest.framing import FrameError, decode, encode, is_nested_beyond

VALUES: list[Json] = [None, True, 0, -1.5, "é♥\n\\ud800", [], {}, {"a": [1, {"b": [None, False]}]}]


@pytest.mark.parametrize(
    "inner", ['"', '\\"[', '\\\\"[', "\\", "\\\\", "]]]]", '"]', "[[[{", "é\n}"]
)
@pytest.mark.parametrize("depth", [3, 9, 10, 200])
def test_the_depth_of_a_body_is_told_whatever_its_texts_hold(inner: str, depth: int) -> None:
    value: Json = [inner] * 9
    for level in range(depth - 1):
        value = {inner: value, "a": {}, "b": inner} if level % 2 else [inner, [], value, inner]
    assert is_nested_beyond(encode(value), 9) == (depth > 9)


@pytest.mark.parametrize("value", VALUES)
def test_a_value_survives_the_trip(value: Json) -> None:
    again = decode(encode(value))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    "body",
    [
        b"NaN",
        b"[Infinity]",
        b"-1e999",
        b'"\\ud800"',
        b'{"\\uDC00":1}',
        b"\xff",
        b"",
        b"{",
        b"1 2",
        b"[" * 100_000,
        b"1" * 5000,
    ],
)
def test_anything_but_contract_json_is_refused(body: bytes) -> None:
    with pytest.raises(FrameError):
        decode(body)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", 10**5000],
    ids=["nan", "infinity", "half a pair", "5,000 digits"],
)
def test_what_cannot_be_written_is_refused(value: Json) -> None:
    with pytest.raises(ValueError, match=r".+"):
        encode(value)
