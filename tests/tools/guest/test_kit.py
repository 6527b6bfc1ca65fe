import copy
import random
import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.processes import PATIENCE_S
from tools.guest.kit import fast_deepcopy

original = copy.deepcopy  # nothing here calls install() in this process


class Plain:
    def __init__(self, inside: object) -> None:
        self.inside = inside


class ListKind(list[Any]):
    pass


class StrKind(str):
    __slots__ = ()


class CallsBack:
    """Copies itself through the fast copier, with and without the memo."""

    def __init__(self, inside: object) -> None:
        self.inside = inside
        self.apart: object = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "CallsBack":
        made = CallsBack(None)
        memo[id(self)] = made
        made.inside = fast_deepcopy(self.inside, memo)
        made.apart = fast_deepcopy([1, [2]])
        return made


def parts(value: object) -> list[object]:
    if isinstance(value, dict):
        return [part for entry in value.items() for part in entry]
    if isinstance(value, list | tuple | deque):
        return list(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, Plain):
        return [value.inside]
    if isinstance(value, CallsBack):
        return [value.inside, value.apart]
    return []


def assert_same_graph(one: object, other: object, source: object) -> None:
    """Three graphs walked in step: where two ways meet in one copy they meet in the other.

    What the first copy took over from the source as it is, the second must have too.
    """
    there: dict[int, int] = {}
    back: dict[int, int] = {}
    todo = [(one, other, source)]
    while todo:
        left, right, origin = todo.pop()
        assert type(left) is type(right)
        assert (left is origin) == (right is origin)
        if id(left) in there or id(right) in back:
            assert there.get(id(left)) == id(right)
            assert back.get(id(right)) == id(left)
            continue
        if left is not right:
            there[id(left)], back[id(right)] = id(right), id(left)
        inside, beside, before = parts(left), parts(right), parts(origin)
        assert len(inside) == len(beside)
        if not inside:
            assert left == right or left is right
        if not isinstance(origin, CallsBack):
            todo += zip(inside, beside, before, strict=True)
        else:
            todo.append((inside[0], beside[0], before[0]))
            assert inside[1] == beside[1]


def atom(rng: random.Random) -> object:
    drawn = (
        None,
        True,
        False,
        rng.randrange(-5, 10**6),
        rng.random(),
        float("nan"),
        str(rng.random()),
    )
    return rng.choice(drawn)


def structure(rng: random.Random, *, foreign: bool) -> object:
    """A random graph of containers with shared parts and cycles."""
    nodes: list[Any] = [rng.choice([dict, list])() for _ in range(rng.randrange(1, 12))]
    if foreign:
        nodes += [
            Plain(None),
            ListKind(),
            {1, "x"},
            frozenset({2}),
            (rng.choice(nodes), 1),
            deque([rng.choice(nodes)]),
            OrderedDict(a=rng.choice(nodes)),
            CallsBack(rng.choice(nodes)),
            StrKind("s"),
        ]
    for node in nodes:
        for _ in range(rng.choice([0, 1, 3, 8])):
            share = rng.random() < 0.5
            part = (
                rng.choice(nodes) if share else rng.choice([atom(rng), [atom(rng)], (1, "a"), ()])
            )
            if type(node) is dict:
                node[rng.choice([str(rng.random()), rng.randrange(9)])] = part
            elif isinstance(node, list):
                node.append(part)
            elif isinstance(node, Plain):
                node.inside = part
    return nodes[0]


@pytest.mark.parametrize("foreign", [False, True])
def test_value_aliasing_and_identities_are_the_originals(foreign: bool) -> None:
    rng = random.Random(7)
    for _ in range(3000):
        value = structure(rng, foreign=foreign)
        assert_same_graph(original(value), fast_deepcopy(value), value)


def test_the_value_itself_is_left_as_it_was() -> None:
    hand = ["2C", "TH"]
    state = {"hands": [hand, ["5D"]], "shown": hand}
    made = fast_deepcopy(state)
    made["hands"][0].append("3S")
    made["hands"][1].clear()
    assert state == {"hands": [["2C", "TH"], ["5D"]], "shown": ["2C", "TH"]}
    assert made["shown"] == ["2C", "TH", "3S"]


def test_one_list_in_several_places_is_one_list_in_the_copy() -> None:
    kinds: list[Any] = [[], ["a"], {}, {"k": [1]}]
    for shared in kinds:
        values: list[object] = [
            [shared, shared],
            {"a": shared, "b": shared},
            [[shared], {"deep": [shared]}],
            {"a": {"x": shared}, "b": [1, 2, 3, 4, 5, 6, shared]},
        ]
        for value in values:
            assert_same_graph(original(value), fast_deepcopy(value), value)


def test_parts_with_no_other_reference_than_two_places_are_still_one() -> None:
    def twice() -> list[Any]:
        return [[[]] * 2, {"a": [[]] * 2, "b": dict.fromkeys("xy", [])}]

    made = fast_deepcopy(twice())
    assert made[0][0] is made[0][1]
    assert made[1]["a"][0] is made[1]["a"][1]
    assert made[1]["b"]["x"] is made[1]["b"]["y"]
    assert made[1]["a"][0] is not made[1]["b"]["x"]


def test_a_list_and_a_dict_that_hold_themselves() -> None:
    items: list[Any] = [1]
    items.append({"back": items})
    made = fast_deepcopy(items)
    assert made is not items
    assert made[1]["back"] is made
    table: dict[str, Any] = {}
    table["self"] = table
    assert fast_deepcopy(table)["self"] is not table
    inner = {"x": [table]}
    table["inner"] = inner
    assert_same_graph(original(inner), fast_deepcopy(inner), inner)


def test_atoms_are_the_same_objects() -> None:
    for value in (None, True, 10**30, 1.5, "".join(["a", "b"]), (1, "a"), float, len, b"x"):
        assert fast_deepcopy(value) is value
        assert fast_deepcopy([value])[0] is value
        assert fast_deepcopy({"k": value})["k"] is value
    key = "".join(["long ", "key"])
    assert next(iter(fast_deepcopy({key: []}))) is key


def test_the_order_of_keys_is_kept() -> None:
    table = {"b": [], "a": {}, 3: 1, "c": 0}
    del table["b"]
    table["b"] = []
    assert list(fast_deepcopy(table)) == ["a", 3, "c", "b"]


@pytest.mark.parametrize("filled", [False, True])
def test_a_memo_is_used_and_filled_like_the_originals(filled: bool) -> None:
    part = [1]
    value = {"a": part, "b": [part]}
    made = []
    for copier in (original, fast_deepcopy):
        memo: dict[int, Any] = {id(part): "known"} if filled else {}
        result = copier(value, memo)
        assert memo[id(value)] is result
        made.append((result, sorted(key for key in memo if key != id(memo))))
    assert made[0] == made[1]


def numbers() -> Iterator[int]:
    yield 1


class Refuses:
    def __deepcopy__(self, memo: dict[int, Any]) -> object:
        raise LookupError("mine")


def failure(copier: Callable[[object], object], value: object) -> BaseException:
    with pytest.raises((TypeError, LookupError)) as caught:
        copier(value)
    return caught.value


def test_errors_are_the_originals_with_nothing_chained_to_them() -> None:
    for bad in (numbers(), Refuses(), sys._getframe(), sys):
        values: list[object] = [bad, [bad], {"a": [1, {"b": bad}]}, {"a": (bad, [])}]
        for value in values:
            expected, got = failure(original, value), failure(fast_deepcopy, value)
            assert (type(got), got.args) == (type(expected), expected.args)
            assert got.__context__ is None


def test_a_foreign_keys_own_code_runs_no_more_often_than_with_the_original() -> None:
    asked: list[object] = []

    class Key:
        def __hash__(self) -> int:
            return hash("a")

        def __eq__(self, other: object) -> bool:
            asked.append(other)
            return self is other

    counts = []
    for copier in (original, fast_deepcopy):
        table: dict[Any, Any] = {"a": [], Key(): [], "b": []}
        asked.clear()
        copier(table)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_too_deep_a_value_is_a_recursion_error_and_no_sooner_than_the_originals() -> None:
    with pytest.raises(RecursionError):
        fast_deepcopy(nested(100_000))
    within = 300
    made = fast_deepcopy(nested(within))
    for _ in range(within):
        (made,) = made
    assert made == []


INSTALLING = """
import copy
from tools.guest.kit import fast_deepcopy, install
install()
install()
from copy import deepcopy
assert deepcopy is copy.deepcopy is fast_deepcopy
class Holder: pass
shared, one = [1], Holder()
one.part = shared
made = copy.deepcopy({"a": shared, "b": one, "c": {3}})
assert made["a"] == [1] and made["a"] is made["b"].part and made["b"] is not one
bound = copy.deepcopy([].append)
assert copy.deepcopy([[0, [1]], {"x": ()}]) == [[0, [1]], {"x": ()}]
print("done")
"""


def test_install_serves_both_kinds_of_import_and_can_be_repeated() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", INSTALLING],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (ran.stdout, ran.stderr) == ("done\n", "")
