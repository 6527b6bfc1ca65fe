"""Sources of somebody else: what a text can do to a parser does not reach the host."""

import ast
import io
import pickle
import resource
import sys
import time

import pytest

from games import library
from games.text import literal_game
from games.values import ModuleFault
from tools.sandbox.reading import _Nodes, foreign_comments, foreign_game, foreign_tree

GAME = 'GAME = {"name": "g", "summary": "s", "min_players": 2, "max_players": 2%s}\n'
# CPython's parser takes the square of the fields of one f-string; ints hash to their remainder by
# 2**61 - 1 (sys.hash_info.modulus), so that these keys all meet in one place of a dict.
FIELDS = "x = f'" + "{a}" * 200_000 + "'\n"
KEYS = ", ".join(f"{n * sys.hash_info.modulus}: 0" for n in range(60_000))
HOSTILE = {
    "fields of an f-string": FIELDS + GAME % "",
    "keys of one hash": "GAME = {" + KEYS + "}\n",
    "signs": "x = " + "-" * 200_000 + "1\n" + GAME % "",
    "brackets": "x = " + "(" * 50_000 + ")" * 50_000 + "\n" + GAME % "",
    "statements": "x=1;" * 400_000 + "\n" + GAME % "",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_costs_the_host_next_to_nothing(name: str) -> None:
    before, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModuleFault, match="to read|nested|key 0"):
        foreign_game(HOSTILE[name])
    if name in ("signs", "brackets"):
        with pytest.raises(SyntaxError, match="to read|nested"):
            foreign_tree(HOSTILE[name])
    assert time.process_time() - before < 2.0  # of this process; minutes without it
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 2**20  # KiB


@pytest.mark.parametrize("name", ["signs", "brackets"])
def test_a_short_text_that_is_nested_too_deeply_is_a_syntax_error(name: str) -> None:
    short = {"signs": "x = " + "-" * 6_000 + "1\n", "brackets": "(" * 4_000 + ")" * 4_000}[name]
    with pytest.raises(SyntaxError):
        foreign_tree(short)
    with pytest.raises(ModuleFault, match="nested too|too many|unreadable"):
        foreign_game(short + GAME % "")


@pytest.mark.parametrize("family", library.families())
def test_a_sound_module_is_read_as_it_stands(family: str) -> None:
    source = library.source(family)
    assert foreign_game(source) == literal_game(source)
    read, parsed = foreign_tree(source), ast.parse(source)
    assert ast.dump(read, include_attributes=True) == ast.dump(parsed, include_attributes=True)


def test_no_text_of_a_stranger_is_parsed_here_however_short() -> None:
    short = "x = [..., 2j, b'a', None]  # R1\n" + GAME % ', "fault": {"kind": 1}'
    watched, parsed = [True], list[object]()
    sys.addaudithook(  # for good: nothing takes a hook off
        lambda event, told: parsed.append(told) if watched and event == "compile" else None
    )
    game = foreign_game(short)
    assert game["fault"] == {"kind": 1}  # no word of a module is taken for the reader's
    assert len(foreign_tree(short).body) == 2
    assert len(foreign_tree("if a:\n    pass\n" + "elif b:\n    pass\n" * 300).body) == 1
    assert foreign_comments(short) == [(1, "# R1", "x = [..., 2j, b'a', None]")]
    for text in ("x = (", "x = '\0'", "  x"):
        with pytest.raises((SyntaxError, ValueError)):
            foreign_tree(text)
    watched.clear()
    assert not parsed  # by Python's own word (its table of audit events)


def test_an_answer_that_is_no_tree_calls_nothing() -> None:
    for called in (exec, ast.literal_eval, print):
        with pytest.raises(pickle.UnpicklingError, match="is no node"):
            _Nodes(io.BytesIO(pickle.dumps(called))).load()


@pytest.mark.parametrize("long", [False, True])
def test_what_is_no_plain_literal_is_told_alike_however_long_the_source_is(long: bool) -> None:
    rest = "# beside it\n" * 2_000 * long
    for text, kind in (
        ("GAME = dict(name='g')\n", "missing"),
        ('GAME = {"name": print}\n', "missing"),
        ('GAME = {1: "one"}\n', "bad_value"),
        ("GAME = {\n", "unreadable"),
    ):
        with pytest.raises(ModuleFault) as caught:
            foreign_game(rest + text)
        assert caught.value.kind == kind
    with pytest.raises(SyntaxError, match="line|never closed") as told:
        foreign_tree(rest + "x = (\n")
    assert told.value.lineno == 1 + 2_000 * long
