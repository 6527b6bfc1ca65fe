import pytest

from agents.protocols import Edit, EditError, apply_edits

SOURCE = "a = 1\nb = 2\nb = 2\nc = 3\n"


def edited(source: str, *pairs: tuple[str, str]) -> str:
    return apply_edits(source, [Edit(search=search, replace=text) for search, text in pairs])


def test_an_edit_replaces_the_one_place_it_names() -> None:
    assert edited(SOURCE, ("a = 1", "a = 10")) == "a = 10\nb = 2\nb = 2\nc = 3\n"


def test_several_edits_apply_to_the_source_as_it_was_in_any_order() -> None:
    edits = [("c = 3", "a = 1"), ("a = 1", "c = 3"), ("b = 2\nb = 2\n", "")]
    assert edited(SOURCE, *edits) == "c = 3\na = 1\n"
    assert edited(SOURCE, *edits[::-1]) == "c = 3\na = 1\n"


def test_a_replacement_is_taken_literally() -> None:
    assert edited("x = 1", ("1", r"\1\g<0>")) == r"x = \1\g<0>"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ([("a = 1", "a = 2"), ("d = 4", "d = 5")], "edit 2: .* does not occur .*'d = 4'"),
        ([("b = 2", "b = 3")], "edit 1: .* occurs 2 times.*'b = 2'"),
        ([("", "x")], "edit 1 has an empty search text"),
        ([("a = 1\nb", "x"), ("1\nb = 2\nb", "y")], "edits 1 and 2 overlap"),
        ([("a = 1", "x"), ("a = 1", "y")], "edits 1 and 2 overlap"),
        ([("A = 1", "x")], "does not occur"),
        ([], "no edit to apply"),
    ],
)
def test_edits_that_do_not_all_apply_are_refused_by_name(
    edits: list[tuple[str, str]], said: str
) -> None:
    with pytest.raises(EditError, match=said):
        edited(SOURCE, *edits)


def test_overlapping_occurrences_count_as_several() -> None:
    with pytest.raises(EditError, match="occurs 2 times"):
        edited("aaa", ("aa", "b"))
