"""`train`: a policy file that `match` plays, and refusals in a sentence."""

import re
import sys
from pathlib import Path

import pytest

from tests.app.conftest import Command, Started, wait_for
from tests.app.test_surface import ELSEWHERE, lost

SMALL = ("--ppo", "environments=10,horizon=10,units=8,explore=200")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "kuhn.policy"


def test_what_was_trained_plays_its_game(command: Command, out: Path) -> None:
    pytest.importorskip("torch", reason="training is an extra: not verified without torch")
    made = command("train", "kuhn_poker", "--steps", "200", "--out", out, *SMALL, "--json")
    assert made.code == 0, made.err
    assert made.json["steps"] == 200
    assert lost(ELSEWHERE["train"], made.json) == []
    assert made.json["settings"]["units"] == 8
    assert {"numpy", "rulewright"} <= made.json["versions"].keys()
    assert made.json["torch"].startswith("2.")
    assert made.json["sandbox"]["name"] in ("strong", "medium", "none")
    again = command("train", "kuhn_poker", "--steps", "200", "--out", out, *SMALL)
    assert (again.code, "--force" in again.err) == (2, True)
    played = command("match", "kuhn_poker", "--player", f"ppo:policy={out}",
                     "--player", "random", "--games", "4", "--json")  # fmt: skip
    assert (played.code, played.json["finished"]) == (0, 4), played.err
    used = played.json["entrants"][0]["used"]
    assert used["words"]["algorithm"] == {"ppo": used["decisions"]}
    other = command("match", "leduc_poker", "--player", f"ppo:policy={out}", "--player", "random")
    assert other.code == 2
    assert "was trained on kuhn_poker, and this is leduc_poker" in other.err


def test_a_model_of_what_a_seat_sees_is_trained_and_plays_its_game(
    command: Command, out: Path
) -> None:
    asked = ("train", "kuhn_poker", "--player", "gomcts", "--out", out, "--seed", "1")
    small = ("--gomcts", "iterations=1,batch=512")
    made = command(*asked, "--tokens", "20000", *small, "--calibrate", "--json")
    assert made.code == 0, made.err
    page = out.with_name(f"{out.name}.html").read_text()
    assert "Nats a token by iteration" in page
    assert "cross-entropy" in page
    assert (made.json["tokens"], made.json["settings"]["size"]) == (20000, "tiny")
    assert made.json["budget"] == {
        "tokens": 20000, "seed": 1, "minutes": 0.0, "learned": 0.0, "written": 0.0,
        "played": 0.0,
    }  # fmt: skip
    for player in ("gomcts:runs=8,", "argmaxval:"):
        played = command("match", "kuhn_poker", "--player", f"{player}model={out}",
                         "--player", "random", "--games", "4", "--json")  # fmt: skip
        assert (played.code, played.json["finished"]) == (0, 4), played.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--player", "gomcts"), "required: one of --minutes N and --tokens N"),
        (("--player", "gomcts", "--tokens", "9", "--minutes", "1"), "required: one of --minutes"),
        (("--player", "gomcts", "--tokens", "9", "--steps", "5"), "--steps: has no effect"),
        (("--steps", "5", "--tokens", "9"), "--tokens: has no effect on ppo"),
        (("--steps", "5", "--calibrate"), "--calibrate: has no effect on ppo"),
        ((), "--steps: required: at least 1 decision"),
        (("--player", "gomcts", "--tokens", "9", "--gomcts", "size=huge"), "tiny, small, paper"),
        (
            ("--player", "gomcts", "--tokens", "9", "--gomcts", "action_share=0.6"),
            "train: outcome_share is 0.5 and action_share 0.6; required: together at most 1",
        ),
    ],
)
def test_options_without_an_effect_and_missing_ones_are_refused(
    command: Command, out: Path, given: tuple[str, ...], said: str
) -> None:
    done = command("train", "kuhn_poker", "--out", out, *given)
    assert (done.code, said in " ".join(done.err.split())) == (2, True), done.err


def test_a_game_that_cannot_be_enumerated_is_refused_before_it_is_learned(
    command: Command, out: Path
) -> None:
    asked = ("push_your_luck", "--players", "3", "--player", "gomcts", "--tokens", "9")
    done = command("train", *asked, "--calibrate", "--out", out)
    assert (done.code, "push_your_luck is no game of the library for two" in done.err) == (2, True)
    assert not out.exists()


def test_a_page_that_is_there_is_not_written_over(command: Command, out: Path) -> None:
    page = out.with_name(f"{out.name}.html")
    page.write_text("mine")
    done = command("train", "kuhn_poker", "--player", "gomcts", "--tokens", "9", "--out", out)
    assert (done.code, "is there already" in done.err, page.read_text()) == (2, True, "mine")


def test_a_training_goes_on_with_the_amount_that_it_began_with(command: Command, out: Path) -> None:
    part = out.with_name(f"{out.name}.part")
    part.mkdir()
    (part / "budget.json").write_text('{"tokens": 7000, "seed": 3}')
    done = command("train", "kuhn_poker", "--player", "gomcts", "--out", out, "--tokens", "9000")
    assert (done.code, "7,000 tokens" in done.err) == (2, True), done.err


def test_the_advised_command_plays_the_game_with_its_seats_and_settings(
    command: Command, out: Path
) -> None:
    pytest.importorskip("torch", reason="training is an extra: not verified without torch")
    asked = ("push_your_luck", "--players", "3", "--set", "target_score=12")
    made = command("train", *asked, "--steps", "100", "--out", out, *SMALL)
    (advice,) = re.findall(r"play it: rulewright (match .*) --games 100", made.out)
    played = command(*advice.split(), "--games", "3", "--json")
    assert (played.code, played.json["finished"]) == (0, 3), played.err


@pytest.mark.whole
def test_a_training_of_two_seeds_that_is_killed_ends_in_the_same_bytes(
    command: Command, started: Started, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="training is an extra: not verified without torch")
    small = f"{SMALL[1]},choice_deals=4"
    asked = ("train", "kuhn_poker", "--steps", "400", "--seeds", "2", "--ppo", small)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    told = command(*asked, "--out", whole, "--json")
    assert [row["seed"] for row in told.json["seeds"]] == [0, 1], told.err
    process = started(*asked, "--out", killed)
    wait_for(process, "seed 1, 200 decisions")
    process.kill()
    process.wait()
    assert not killed.exists()
    other = command(*asked, "--out", killed, "--steps", "500")
    assert (other.code, "with another steps" in other.err) == (2, True)
    again = command(*asked, "--out", killed)
    assert "seed 0, 400" not in again.err  # it was done
    assert "(kept)" in again.out
    assert whole.read_bytes() == killed.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--steps", "0"), "required: at least 1 decision"),
        (("--steps", "9", "--ppo", "unit=8"), "no setting 'unit' (did you mean 'units'?); known"),
        (("--steps", "9", "--ppo", "units=0"), "units is '0'; required: a whole number >= 1"),
        (("--steps", "9", "--ppo", "memory=some"), "known values: auto, no, yes"),
        (("--steps", "9", "--players", "5"), "kuhn_poker takes 2"),
    ],
)
def test_what_cannot_be_trained_is_said_in_a_sentence(
    command: Command, out: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    done = command("train", "kuhn_poker", "--out", out, *arguments)
    assert done.code == 2
    assert complaint in done.err
    assert "Traceback" not in done.err
    assert not out.exists()


def test_without_torch_one_sentence_says_what_to_install(
    command: Command, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    done = command("train", "kuhn_poker", "--steps", "9", "--out", out, *SMALL)
    assert done.code == 2
    assert "pip install 'rulewright[learn]'" in done.err
    assert done.err.count("\n") <= 2
