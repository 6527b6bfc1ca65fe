"""The forty bad inputs as data, and how one is judged; the evaluation itself takes half an hour."""

import pytest

from evals.bad_inputs import bad_inputs, reasons_against

SAMPLE = {"allowed_exit": [2], "stderr_must": ["disk"], "never": ["Traceback", "FAULT:"]}


def test_there_are_forty_and_each_says_what_it_may_end_with() -> None:
    samples = bad_inputs()
    assert [sample["id"] for sample in samples] == [f"b{n:02}" for n in range(1, 41)]
    for sample in samples:
        assert sample["allowed_exit"]
        assert {"Traceback", "FAULT:"} <= set(sample["never"])


@pytest.mark.parametrize(
    ("code", "output", "reason"),
    [
        (None, "disk", "not ended"),
        (1, "disk", "exit 1"),
        (2, "no room", "none of"),
        (2, "disk\nTraceback (most recent call last)", "'Traceback' in the output"),
        (2, "disk\nFAULT: exit 0, allowed 2", "FAULT: exit 0"),
    ],
)
def test_a_sample_fails_for_its_reason(code: int | None, output: str, reason: str) -> None:
    (found,) = reasons_against(SAMPLE, code, output)
    assert found.startswith(reason)


def test_a_sample_that_ends_as_it_should_has_no_reason() -> None:
    assert reasons_against(SAMPLE, 2, "error: the disk is full") == []
