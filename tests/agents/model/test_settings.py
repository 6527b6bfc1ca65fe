import pytest

from agents.model.settings import ModelSettings, SettingsError, read_settings

ENDPOINT = {"RULEWRIGHT_MODEL": "some-model", "OPENAI_API_KEY": "sk-very-secret"}


def test_nothing_set_means_no_model() -> None:
    assert read_settings({"PATH": "/bin"}).model is None
    assert read_settings({"RULEWRIGHT_MODEL": ""}).model is None


def test_every_setting_is_read() -> None:
    settings = read_settings(
        ENDPOINT
        | {
            "OPENAI_BASE_URL": "http://127.0.0.1:8000/v1",
            "RULEWRIGHT_TIMEOUT_S": "3.5",
            "RULEWRIGHT_MAX_CALLS": "7",
            "RULEWRIGHT_PRICE_IN": "2",
            "RULEWRIGHT_PRICE_OUT": "8",
            "RULEWRIGHT_OFFLINE": "1",
        }
    )
    assert (settings.timeout_s, settings.max_calls, settings.price_out) == (3.5, 7, 8.0)
    assert settings.offline
    assert settings.mode == "off"


def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"RULEWRIGHT_MODELL": "x"}, also_known=["RULEWRIGHT_HOME"])
    assert "unknown setting RULEWRIGHT_MODELL" in str(caught.value)
    assert "RULEWRIGHT_HOME" in str(caught.value)
    assert "RULEWRIGHT_MODEL," in str(caught.value)


def test_a_name_that_another_room_reads_is_known() -> None:
    assert read_settings({"RULEWRIGHT_HOME": "/x"}, also_known=["RULEWRIGHT_HOME"]).model is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"RULEWRIGHT_TIMEOUT_S": "-1"}, "RULEWRIGHT_TIMEOUT_S.*greater than 0.*'-1'"),
        ({"RULEWRIGHT_RETRIES": "many"}, "RULEWRIGHT_RETRIES.*integer"),
        ({"RULEWRIGHT_REPLY_METHOD": "xml"}, "RULEWRIGHT_REPLY_METHOD.*json_schema"),
        ({"RULEWRIGHT_PRICE_IN": "2"}, "RULEWRIGHT_PRICE_OUT"),
        ({"RULEWRIGHT_MAX_DOLLARS": "2"}, "RULEWRIGHT_PRICE_IN"),
        ({"RULEWRIGHT_RECORD": "a", "RULEWRIGHT_REPLAY": "b"}, "exclude each other"),
        ({"OPENAI_BASE_URL": "localhost"}, "OPENAI_BASE_URL.*http://"),
        ({"OPENAI_API_KEY": ""}, "no endpoint to ask"),
        (
            {"OPENAI_API_KEY": "sk-\u201cone\u201d"},
            "OPENAI_API_KEY holds .* copy the key again$",
        ),
        ({"OPENAI_API_KEY": "sk-one\nX: two"}, "OPENAI_API_KEY holds .* copy the key again$"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(changes: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_settings(ENDPOINT | changes)


def test_the_key_and_a_password_in_the_address_are_never_shown() -> None:
    address = {"OPENAI_BASE_URL": "https://me:hidden@models.example/v1"}
    settings = read_settings(ENDPOINT | address)
    assert "sk-very-secret" not in repr(settings)
    assert "sk-very-secret" not in str(settings.effective())
    assert "hidden" not in str(settings.effective())
    assert settings.effective()["base_url"] == "https://models.example/v1"


def test_the_mode_follows_from_the_paths() -> None:
    assert ModelSettings.model_validate({"record": "r.json"}).mode == "record"
    assert ModelSettings.model_validate({"replay": "r.json"}).mode == "replay"
