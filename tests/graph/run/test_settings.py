"""Settings of a run: what a quick one has smaller, and what is refused."""

import pytest
from pydantic import ValidationError

from games.checks.run import CheckSettings
from graph.new.context import RunSettings

SIZES = ("ladder_matches", "random_matches", "heuristic_matches", "small_budget", "large_budget")


def test_a_quick_run_is_smaller_in_every_size() -> None:
    usual, quick = RunSettings(), RunSettings(quick=True)
    assert all(getattr(quick, name) < getattr(usual, name) for name in SIZES)
    assert quick.check.matches < usual.check.matches


def test_a_size_that_is_given_stands_in_a_quick_run() -> None:
    assert RunSettings(quick=True, ladder_matches=60).ladder_matches == 60


def test_a_run_without_a_seed_draws_one_for_its_checks_too() -> None:
    one, other = (RunSettings.model_validate({"check": {"matches": 3}}) for _ in range(2))
    assert one.seed == one.check.seed != other.seed == other.check.seed
    assert max(one.seed, other.seed) > 2**48  # 64 bits: smaller ones in a run of 4 billion
    kept = one.of_seed(7)
    assert (kept.seed, kept.check.seed, kept.check.matches) == (7, 7, 3)
    assert RunSettings(seed=3).of_seed(7).seed == 3


def test_the_checks_are_seeded_like_the_run() -> None:
    assert RunSettings(seed=7).check == CheckSettings(seed=7)
    assert RunSettings(seed=7, quick=True).check.seed == 7


def test_settings_are_the_same_after_a_round_through_json() -> None:
    settings = RunSettings(seed=3, quick=True, ladder_matches=8)
    assert RunSettings.model_validate_json(settings.model_dump_json()) == settings


@pytest.mark.parametrize("wrong", [{"quick": "perhaps"}, {"refine": "luck"}, {"rounds": 3}])
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RunSettings.model_validate(wrong)


def test_every_number_that_a_servers_client_may_send_has_an_upper_bound() -> None:
    schema = RunSettings.model_json_schema()
    for part in (schema, schema["$defs"]["CheckSettings"]):
        for name, told in part["properties"].items():
            for kind in told.get("anyOf", [told]):
                if kind.get("type") in ("integer", "number") and name != "seed":
                    assert "maximum" in kind, name
    for wrong in ({"random_matches": 10**12}, {"max_rounds": 10**9}, {"playtest_s": 1e300}):
        with pytest.raises(ValidationError, match="less than or equal"):
            RunSettings.model_validate(wrong)
