import pytest

from tools.guest.serving import CUT, BoundedOutput


def test_text_within_the_cap_is_kept_in_order() -> None:
    output = BoundedOutput(10)
    print("ab", "cd", sep="-", file=output)
    assert output.take() == "ab-cd\n"
    output.write("1234")
    assert (output.take(), output.take()) == ("1234", "")


@pytest.mark.parametrize("sizes", [(11,), (10, 1), (4, 7), (3, 3, 3, 3)])
def test_the_cut_is_marked_once_and_holds_for_life(sizes: tuple[int, ...]) -> None:
    output = BoundedOutput(10)
    for size in sizes:
        assert output.write("x" * size) == size
    assert output.take() == "x" * 10 + CUT
    output.write("more")
    assert output.take() == ""


def test_only_text_is_taken() -> None:
    with pytest.raises(TypeError, match="must be str, not bytes"):
        BoundedOutput(10).write(b"x")  # type: ignore[arg-type]
