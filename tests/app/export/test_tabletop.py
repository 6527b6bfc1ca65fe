"""Tabletop Simulator's sheet and saved object, and the command that exports."""

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.app.conftest import Command
from tests.app.export.test_print import deck_game

ROOT = Path(__file__).parents[3]


def exported(command: Command, game: object, folder: Path) -> Any:  # noqa: ANN401 - JSON
    done = command("export", game, "--tabletop-simulator", "--out", folder)
    assert done.code == 0, done.err
    return json.loads((folder / "tabletop-simulator.json").read_text("utf-8"))


def test_the_saved_object_shows_each_card_of_the_sheet_once(
    command: Command, tmp_path: Path
) -> None:
    (deck,) = exported(command, "crazy_eights", tmp_path)["ObjectStates"]
    assert deck["Name"] == "DeckCustom"
    assert len(set(deck["DeckIDs"])) == 52
    assert [one["CardID"] for one in deck["ContainedObjects"]] == deck["DeckIDs"]
    assert {one["Nickname"] for one in deck["ContainedObjects"]} == {
        rank + suit for rank in "23456789TJQKA" for suit in "CDHS"
    }
    sheet = deck["CustomDeck"]["1"]
    # A card is found by a hundred times the number of its sheet, and its place among 10 x 7.
    assert {card // 100 for card in deck["DeckIDs"]} == {1}
    assert (sheet["NumWidth"], sheet["NumHeight"], sheet["BackIsHidden"]) == (10, 7, True)
    assert {sheet["FaceURL"], sheet["BackURL"]} == {"cards-1.png", "back-1.png"}
    with (
        Image.open(tmp_path / sheet["FaceURL"]) as picture,
        Image.open(tmp_path / sheet["BackURL"]) as back,
    ):
        wide, high = picture.width // 10, picture.height // 7
        assert (picture.width, picture.height) == (wide * 10, high * 7)
        assert back.size == (wide, high)
        places = [
            picture.crop((n % 10 * wide, n // 10 * high, (n % 10 + 1) * wide, (n // 10 + 1) * high))
            for n in range(70)
        ]
        assert len({place.tobytes() for place in places[:52]}) == 52
        blank = Image.new("RGB", (wide, high), "#ffffff").tobytes()
        assert all(place.tobytes() == blank for place in places[52:69])
        assert places[69].tobytes() == back.convert("RGB").tobytes()  # what others see of a hand


def test_what_a_seat_owns_and_what_is_not_one_sheet_are_decks_of_their_own(
    command: Command, tmp_path: Path
) -> None:
    decks = exported(command, "goofspiel", tmp_path / "a")["ObjectStates"]
    assert [one["Nickname"] for one in decks] == ["card of Player 1", "card of Player 2", "prize"]
    assert [len(one["DeckIDs"]) for one in decks] == [13, 13, 13]
    (tmp_path / "game.py").write_text(deck_game("[f'n{n}' for n in range(100)]"), encoding="utf-8")
    decks = exported(command, tmp_path, tmp_path / "b")["ObjectStates"]
    assert [len(one["DeckIDs"]) for one in decks] == [69, 31]  # the last place is no card's
    assert decks[1]["DeckIDs"][0] == 200


# Of the classes that Tabletop Simulator's page "Save File Format" lists, what a deck of cards has.
SAVE = {"SaveName": str, "ObjectStates": list}
THING = {
    **{"Name": str, "Nickname": str, "Description": str, "Transform": dict, "CardID": int},
    **{"DeckIDs": list, "CustomDeck": dict, "ContainedObjects": list, "GUID": str},
}
SHEET = {
    **{"FaceURL": str, "BackURL": str, "NumWidth": int, "NumHeight": int},
    **{"BackIsHidden": bool, "UniqueBack": bool, "Type": int},
}
TURN = {axis + way: float for axis in ("pos", "rot", "scale") for way in "XYZ"}


def read_thing(thing: dict[str, Any], folder: Path) -> list[int]:
    """The cards of a deck or a card, as that page says how they are found."""
    assert all(type(value) is THING[key] for key, value in thing.items())
    assert {key: type(value) for key, value in thing["Transform"].items()} == TURN
    for sheet in thing["CustomDeck"].values():
        assert {key: type(value) for key, value in sheet.items()} == SHEET
        assert 2 <= sheet["NumWidth"] <= 10
        assert 2 <= sheet["NumHeight"] <= 7
        for picture in (sheet["FaceURL"], sheet["BackURL"]):
            with Image.open(folder / picture) as read:
                assert read.format == "PNG"
    if thing["Name"] == "DeckCustom":
        assert len(thing["DeckIDs"]) > 1
        assert [one["Name"] for one in thing["ContainedObjects"]] == ["Card"] * len(
            thing["DeckIDs"]
        )
        inside = [card for one in thing["ContainedObjects"] for card in read_thing(one, folder)]
        assert inside == thing["DeckIDs"]
        return inside
    card = thing["CardID"]
    sheet = thing["CustomDeck"][str(card // 100)]  # the page's example: of card 354 it is 3
    last = sheet["NumWidth"] * sheet["NumHeight"] - 1  # what others see of a card in a hand
    assert card % 100 < last
    return [card]


@pytest.mark.parametrize("game", ["crazy_eights", "goofspiel", "kuhn_poker"])
def test_a_save_has_what_the_format_asks_for(command: Command, tmp_path: Path, game: str) -> None:
    saved = exported(command, game, tmp_path)
    assert {key: type(value) for key, value in saved.items()} == SAVE
    cards = [card for thing in saved["ObjectStates"] for card in read_thing(thing, tmp_path)]
    assert (
        len({*cards}) == len(cards) == {"crazy_eights": 52, "goofspiel": 39, "kuhn_poker": 3}[game]
    )
    decks = [int(key) for thing in saved["ObjectStates"] for key in thing["CustomDeck"]]
    assert len({*decks}) == len(decks)  # no two sheets have one number


def test_a_game_of_a_board_says_what_is_not_on_the_sheet(command: Command, tmp_path: Path) -> None:
    done = command("export", "connect_four", "--tabletop-simulator", "--out", tmp_path, "--json")
    assert "not in the sheets: 1 board of 6 × 7; print them with --pdf" in done.json["remarks"]
    done = command("export", "pig", "--tabletop-simulator", "--out", tmp_path / "new")
    assert (done.code, "has no cards or counters" in done.err) == (2, True)
    assert not (tmp_path / "new").exists()


def test_an_export_repeats_to_the_byte(command: Command, tmp_path: Path) -> None:
    both = "--pdf", "--tabletop-simulator", "--paper", "letter"
    for folder in ("a", "b"):
        assert command("export", "kuhn_poker", *both, "--out", tmp_path / folder).code == 0
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab"
    )
    assert one == other
    assert b"612 792" in one["cards.pdf"]  # points of a letter's paper


def test_files_that_are_there_stay_unless_they_may_be_replaced(
    command: Command, tmp_path: Path
) -> None:
    words = "export", "kuhn_poker", "--tabletop-simulator", "--out", tmp_path
    (tmp_path / "cards-1.png").write_text("mine", encoding="utf-8")
    done = command(*words)
    assert (done.code, "is there already" in done.err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["cards-1.png"]
    assert (tmp_path / "cards-1.png").read_text("utf-8") == "mine"
    outside = tmp_path / "outside"
    outside.write_text("theirs", encoding="utf-8")
    (tmp_path / "cards-1.png").unlink()
    (tmp_path / "cards-1.png").symlink_to(outside)
    assert command(*words, "--force").code == 0
    assert outside.read_text("utf-8") == "theirs"
    assert Image.open(BytesIO((tmp_path / "cards-1.png").read_bytes())).format == "PNG"


def test_a_place_that_cannot_be_written_and_a_font_that_is_none_are_said(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    words = "export", "kuhn_poker", "--pdf", "--out"
    below = command(*words, tmp_path / "file" / "below")
    assert (below.code, "is no folder; choose another --out" in below.err) == (2, True)
    system = command(*words, "/proc/none")
    assert (system.code, "Traceback" in system.err) == (2, False)
    font = command(*words, tmp_path / "new", "--font", tmp_path / "file")
    assert (font.code, "required: a TrueType file" in font.err) == (2, True)
    none = command(*words, tmp_path / "new", "--font", tmp_path / "nosuch.ttf")
    assert (none.code, "there is no file" in none.err) == (2, True)
    assert not (tmp_path / "new").exists()


def test_a_run_is_exported_into_its_own_folder(command: Command, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "game.py").write_text(deck_game("list('abcd')"), encoding="utf-8")
    (tmp_path / "run" / "run.json").write_text("{}", encoding="utf-8")
    done = command("export", tmp_path / "run", "--pdf", "--json")
    assert done.code == 0, done.err
    assert {Path(one).parent for one in done.json["files"]} == {tmp_path / "run" / "export"}


@pytest.mark.parametrize(
    ("form", "gone", "told"),
    [("--pdf", "reportlab", "reportlab is"), ("--tabletop-simulator", "PIL", "PIL is")],
)
def test_a_missing_extra_is_named_with_what_installs_it(
    form: str, gone: str, told: str, tmp_path: Path
) -> None:
    # In a process where the import system does not find it, as on a machine without the extra.
    code = (
        "import importlib.util as util, sys\n"
        "real = util.find_spec\n"
        f"util.find_spec = lambda name, *rest: None if name == {gone!r} else real(name, *rest)\n"
        f"sys.modules[{gone!r}] = None\n"
        "from app.cli import main\n"
        f"sys.exit(main(['export', 'kuhn_poker', {form!r}, '--out', {str(tmp_path / 'new')!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert (
        f"{told} not installed; install the extra: pip install 'rulewright[print]'" in done.stderr
    )
