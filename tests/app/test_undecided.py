"""`check` on a module that cannot be judged: that is no pass."""

from pathlib import Path

from tests.app.conftest import Command
from tests.games.checks.test_checks import SOUND

COPIED = SOUND.replace(
    'return {**state, "deck": deck, "hands": hands}',
    'return {**state, "deck": deck, "hands": hands, "copy": hands}',
).replace(
    '    return [{"me": seat',
    '    if state.get("copy", state["hands"]) != state["hands"]:\n'
    '        raise RuntimeError("the copy differs")\n'
    '    return [{"me": seat',
)


def test_what_could_not_be_judged_is_said_and_exits_non_zero(
    command: Command, tmp_path: Path
) -> None:
    module = tmp_path / "game.py"
    module.write_text(COPIED)
    done = command("check", module, "--json")
    outcomes = {f["check"]: f["outcome"] for f in done.json["findings"]}
    assert outcomes["leak_audit"] == "could_not_judge"
    assert "failed" not in outcomes.values()
    assert (done.code, done.json["outcome"]) == (1, "could_not_judge")
