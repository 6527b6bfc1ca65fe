from pathlib import Path

import pytest
from pydantic import Field

from agents.players.registry import PLAYERS, parse_spec
from agents.players.specs import (
    Parameter,
    PlayerSpecError,
    given_settings,
    parameters_of,
    require_suited,
)
from agents.search.algorithms import SEARCHES
from agents.search.settings import PlayerSettings
from games import library
from tools.playtest.jobs import GameSetup

MODULE = Path(library.__file__).parent / "tic_tac_toe" / "game.py"


def test_given_settings_replace_defaults() -> None:
    spec = parse_spec("uct:simulations=200,exploration=1.4")
    assert spec.player == "uct"
    assert spec.settings["simulations"] == 200
    assert spec.settings["exploration"] == 1.4
    assert spec.settings["rollouts"] == 1


@pytest.mark.parametrize("name", sorted({*PLAYERS} - {"ppo", "argmaxval", "gomcts"}))
def test_a_spec_written_out_reads_back_the_same(name: str) -> None:
    model = {"llm": ":model=any", "cwm": f":model={MODULE}"}.get(name, "")
    spec, info = parse_spec(name + model), PLAYERS[name]
    assert parse_spec(spec.name) == spec
    unconditional = {parameter.name for parameter in info.parameters if parameter.when is None}
    unconditional -= {"run"}  # read as the model's file
    assert unconditional <= spec.settings.keys() <= {p.name for p in info.parameters}
    assert info.meaning
    assert all(parameter.meaning for parameter in info.parameters)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "known players: random, greedy, uct, ismcts"),
        ("alphazero", "known players: random, greedy, uct, ismcts"),
        ("uct:plies=3", "no setting 'plies'; known settings: exploration, budget, simulations"),
        ("random:depth=3", "known settings: none"),
        ("uct:simulations", "write simulations=1000"),
        ("uct:simulations=0", "required: a whole number >= 1"),
        ("uct:simulations=many", "required: a whole number >= 1"),
        ("uct:simulations=2.5", "required: a whole number >= 1"),
        ("uct:exploration=nan", "required: a finite number >= 0"),
        ("uct:exploration=inf", "required: a finite number >= 0"),
        ("uct:exploration=-1", "required: a finite number >= 0"),
        ("uct:leaf=guess", "known values: rollout, truncated, value, heuristic"),
        ("ismcts:belief=crystal", "known values: auto, module, exact, replay"),
        ("uct:rollouts=2,rollouts=3", "given twice"),
        # A setting of another algorithm is unknown, one that others switch off has no effect.
        ("uct:worlds=3", "uct has no setting 'worlds'"),
        ("ismcts:rave=grave", "ismcts has no setting 'rave'"),
        ("osla:simulations=10", "osla has no setting 'simulations'; known settings: budget, pass"),
        ("alphabeta:exploration=1", "known settings: depth, calls, deadline"),
        ("uct:calls=100", "calls has no effect here; it needs budget=calls"),
        ("uct:budget=calls,simulations=9", "it needs budget=simulations"),
        ("rmhc:seconds=1", "it needs budget=time"),
        ("uct:depth=3", "it needs leaf=truncated or leaf=heuristic"),
        ("uct:leaf=value,policy=mast", "it needs leaf=rollout or leaf=truncated"),
        ("uct:policy=gibbs,epsilon=0.1", "it needs policy=mast"),
        ("uct:power=0.5", "it needs widening above 0"),
        ("uct:rave=rave,reference=9", "it needs rave=grave"),
        ("uct:determinizations=4", "it needs belief=auto or "),
        ("uct:policy=mast,epsilon=1.5", "number >= 0 and <= 1"),
        ("uct:rave=rave,rollouts=2", "rave is 'rave' with rollouts=2"),
        ("uct:rave=rave,widening=1", "rave is 'rave'; required: no widening"),
        ("uct:transpositions=yes,policy=mast", "required: policy='uniform'"),
        ("uct:reuse=yes,budget=calls", "reuse with budget=calls"),
        ("uct:reuse=yes,belief=auto", "reuse=yes needs belief=none"),
        ("rhea:elite=10", "elite is 10; required: from 0 to below the population"),
        ("rhea:population=1000000000", "population is 1000000000 with horizon=10; .* 2,000,000 g"),
        ("rmhc:simulations=20,trials=21", "trials is 21 with simulations=20; required: no more"),
        # What overflows a clock, a loop or the memory is refused before it does.
        ("uct:deadline=1e300", "deadline is '1e300'; required: .* >= 0.1 and <= 86,400"),
        ("cfr:deadline=86401", "<= 86,400"),
        ("uct:budget=time,seconds=1e308", "required: a finite number >= 0.001 and <= 86,400"),
        ("pimc:budget=time,seconds=60", "pimc: seconds is 60.0 with deadline=60.0; required: few"),
        ("uct:widening=1e308", "required: a finite number >= 0 and <= 1,000,000,000"),
        ("ismcts:rollout_limit=9223372036854775808", "number >= 1 and <= 1,000,000,000"),
        ("rmhc:horizon=100000000", "number >= 1 and <= 100,000"),
        ("pimc:worlds=1000000000", "number >= 1 and <= 100,000"),
        ("rhea:tournament=1000000000", "number >= 1 and <= 100,000"),
        ("ismcts:determinizations=1000000", "number >= 0 and <= 100,000"),
        ("uct:simulations=", "simulations is ''; required: a whole number"),
        ("uct:=5", "no setting ''"),
        ("uct:simulations=1=2", "simulations is '1=2'"),
        ("uct:simulations=1e3", "required: a whole number"),
        ("uct:simulations=0x10", "required: a whole number"),
        ("uct:exploration=-inf", "required: a finite number"),
        ("uct:exploration=infinity", "required: a finite number"),
    ],
)
def test_bad_specs_say_what_is_known_or_required(text: str, complaint: str) -> None:
    with pytest.raises(PlayerSpecError, match=complaint):
        parse_spec(text)


def test_spaces_around_names_and_values_do_not_matter() -> None:
    assert parse_spec(" uct: simulations = 20 ") == parse_spec("uct:simulations=20")


@pytest.mark.parametrize(
    ("text", "value"),
    [("１", 1), ("1_0", 10), ("+7", 7), (" 7 ", 7), ("007", 7), ("1000000000", 10**9)],
)
def test_a_whole_number_is_read_however_it_is_written_and_told_in_plain_digits(
    text: str, value: int
) -> None:
    spec = parse_spec(f"uct:simulations={text}")
    assert spec.settings["simulations"] == value
    assert f"simulations={value}," in spec.name


@pytest.mark.parametrize(("text", "value"), [("1e-320", 1e-320), ("-0", 0.0), (".5", 0.5)])
def test_a_number_is_read_however_small(text: str, value: float) -> None:
    spec = parse_spec(f"uct:exploration={text}")
    assert spec.settings["exploration"] == value
    assert parse_spec(spec.name) == spec


def test_a_setting_whose_default_is_nothing_takes_a_fraction() -> None:
    class Shares(PlayerSettings):
        share: float = Field(default=0, ge=0, le=1)

    assert given_settings("train", parameters_of(Shares), "share=0.25") == {"share": 0.25}


def test_a_setting_of_any_length_is_refused_in_one_short_sentence() -> None:
    for text in ("9" * 10_000, "x" * 10_000):
        with pytest.raises(PlayerSpecError, match="required: a whole number") as refused:
            parse_spec(f"uct:simulations={text}")
        assert len(str(refused.value)) < 200


NUMBERS = [
    (name, parameter)
    for name, kind in PLAYERS.items()
    for parameter in kind.parameters
    if not isinstance(parameter.default, str)
]


@pytest.mark.parametrize(("name", "parameter"), NUMBERS)
def test_no_setting_is_without_bounds(name: str, parameter: Parameter) -> None:
    for text in (str(10**30), "1e308", "nan", "inf", "-1", "1.5.1", ""):
        with pytest.raises(PlayerSpecError, match=f"{parameter.name} is .*; required: a"):
            parse_spec(f"{name}:{parameter.name}={text}")


@pytest.mark.parametrize(
    ("text", "present", "absent"),
    [
        ("uct", {"simulations", "rollouts", "policy"}, {"calls", "seconds", "epsilon", "power"}),
        ("uct:budget=calls", {"calls"}, {"simulations", "seconds"}),
        ("uct:budget=time", {"seconds"}, {"simulations", "calls"}),
        ("uct:leaf=value", {"leaf"}, {"rollouts", "rollout_limit", "policy"}),
        ("uct:leaf=truncated", {"depth", "policy"}, {"rollout_limit", "ensemble"}),
        ("osla:leaf=heuristic", {"depth", "ensemble"}, {"rollout_limit"}),
        ("ismcts:policy=gibbs", {"temperature"}, {"epsilon"}),
        ("uct:rave=grave", {"bias", "reference"}, set()),
        ("pimc:widening=2", {"power", "worlds"}, {"reuse"}),
    ],
)
def test_a_spec_holds_the_settings_that_have_an_effect(
    text: str, present: set[str], absent: set[str]
) -> None:
    settings = parse_spec(text).settings.keys()
    assert present <= settings
    assert absent.isdisjoint(settings)
    assert parse_spec(parse_spec(text).name) == parse_spec(text)


def test_every_setting_of_an_algorithm_can_be_named_and_no_other() -> None:
    beside = {"belief", "determinizations", "protocol", "deadline"}
    for name, search in SEARCHES.items():
        named = {parameter.name for parameter in PLAYERS[name].parameters}
        assert named - beside == search.settings.model_fields.keys()


def test_a_model_of_other_parameters_is_refused_by_those_that_differ() -> None:
    game = GameSetup("hearts", "", 4, {"pass_direction": "random", "deals": 1, "target_score": 0})
    trained = {**game.parameters, "pass_direction": "rotate"}
    about = {"game": "hearts", "num_players": 4, "parameters": trained}
    said = "file was trained on pass_direction=rotate, and this is pass_direction=random; train one"
    with pytest.raises(PlayerSpecError, match=said):
        require_suited("file", about, game)
    require_suited("file", {**about, "parameters": {**game.parameters}}, game)
