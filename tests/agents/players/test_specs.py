import pytest

from agents.players import PlayerInfo, PlayerSpecError, known_players, parse_spec


def test_given_settings_replace_defaults() -> None:
    spec = parse_spec("uct:simulations=200,exploration=1.4")
    assert spec.name == "uct"
    assert spec.settings["simulations"] == 200
    assert spec.settings["exploration"] == 1.4
    assert spec.settings["rollouts"] == 1


@pytest.mark.parametrize("info", known_players(), ids=lambda info: info.name)
def test_a_spec_written_out_reads_back_the_same(info: PlayerInfo) -> None:
    spec = parse_spec(info.name)
    assert parse_spec(str(spec)) == spec
    assert spec.settings.keys() == {parameter.name for parameter in info.parameters}
    assert info.meaning
    assert all(parameter.meaning for parameter in info.parameters)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "known players: random, greedy, uct, ismcts"),
        ("alphazero", "known players: random, greedy, uct, ismcts"),
        ("uct:depth=3", "no setting 'depth'; known settings: exploration, simulations"),
        ("random:depth=3", "known settings: none"),
        ("uct:simulations", "write simulations=1000"),
        ("uct:simulations=0", "required: a whole number >= 1"),
        ("uct:simulations=many", "required: a whole number >= 1"),
        ("uct:simulations=2.5", "required: a whole number >= 1"),
        ("uct:exploration=nan", "required: a finite number >= 0"),
        ("uct:exploration=inf", "required: a finite number >= 0"),
        ("uct:exploration=-1", "required: a finite number >= 0"),
        ("uct:leaf=guess", "known values: rollout, value"),
        ("ismcts:belief=crystal", "known values: auto, module, exact, replay"),
        ("uct:rollouts=2,rollouts=3", "given twice"),
    ],
)
def test_bad_specs_say_what_is_known_or_required(text: str, complaint: str) -> None:
    with pytest.raises(PlayerSpecError, match=complaint):
        parse_spec(text)


def test_spaces_around_names_and_values_do_not_matter() -> None:
    assert parse_spec(" uct: simulations = 20 ") == parse_spec("uct:simulations=20")
