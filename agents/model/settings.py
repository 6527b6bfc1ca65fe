"""Settings of the chat model: read from the environment once, checked, shown in every run."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
)

from agents.model.errors import ModelError

ReplyMethod: TypeAlias = Literal["json_schema", "function_calling", "plain"]
ExchangeMode: TypeAlias = Literal["off", "record", "replay"]

PREFIX = "RULEWRIGHT_"
_OPENAI = ("base_url", "api_key")


class SettingsError(ModelError, ValueError):
    """A setting is unknown, out of range or at odds with another; the message says which."""


def variable_of(field: str) -> str:
    """The environment variable of a field of `ModelSettings`.

    >>> variable_of("retries"), variable_of("api_key")
    ('RULEWRIGHT_RETRIES', 'OPENAI_API_KEY')
    """
    return ("OPENAI_" if field in _OPENAI else PREFIX) + field.upper()


class RoleModel(BaseModel, frozen=True, extra="forbid"):
    """One role's own model and bounds; None for those of all."""

    model: str | None = Field(default=None, min_length=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_calls: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)


RoleName: TypeAlias = Literal["designer", "coder", "validator", "strategist", "modeller"]


def _roles(given: object) -> object:
    """Roles as a person sets them, a role's settings behind its name.

    >>> _roles("coder: model=big, max_calls=30; validator: temperature=0")
    {'coder': {'model': 'big', 'max_calls': '30'}, 'validator': {'temperature': '0'}}
    """
    if not isinstance(given, str):
        return given
    found: dict[str, dict[str, str]] = {}
    for part in filter(str.strip, given.split(";")):
        role, _, said = part.partition(":")
        pairs = (pair.partition("=") for pair in said.split(","))
        found[role.strip()] = {name.strip(): value.strip() for name, _, value in pairs}
    return found


class ModelSettings(BaseModel):
    """The chat model and the bounds of its use. `model` is None where none is configured."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        alias_generator=AliasGenerator(validation_alias=variable_of),
    )

    model: str | None = Field(default=None, min_length=1, description="Name sent to the endpoint.")
    base_url: str | None = Field(default=None, description="OpenAI-compatible; None is OpenAI's.")
    api_key: str | None = Field(default=None, repr=False, description="Never written anywhere.")
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="None leaves it to the endpoint."
    )
    roles: Annotated[dict[RoleName, RoleModel], BeforeValidator(_roles)] = Field(
        default={}, description="A role's own: `coder: model=NAME, max_calls=30; validator: ...`."
    )
    reply_method: ReplyMethod | None = Field(
        default=None, description="How replies in a schema are asked for; None tries in turn."
    )
    temperature_step: float = Field(
        default=0.2, ge=0, le=1, description="Added for each try after an unusable reply."
    )
    timeout_s: float = Field(default=120, gt=0, description="Seconds a reply may be silent.")
    deadline_s: float = Field(
        default=1800, gt=0, description="Seconds one call may take with its retries and waits."
    )
    retries: int = Field(default=3, ge=0, le=20, description="Tries after the first one.")
    tool_rounds: int = Field(
        default=6, ge=0, le=50, description="Rounds of tool calls a draft may use; 0 for none."
    )
    max_calls: int = Field(default=80, ge=1, description="Requests a run may send.")
    max_tokens: int = Field(default=2_000_000, ge=1, description="Tokens in and out, together.")
    max_dollars: float | None = Field(default=None, gt=0, description="Needs both prices.")
    max_seconds: float = Field(default=7200, gt=0, description="Seconds spent on the endpoint.")
    price_in: float | None = Field(default=None, ge=0, description="Dollars a million tokens.")
    price_out: float | None = Field(default=None, ge=0, description="Dollars a million tokens.")
    record: Path | None = Field(default=None, description="File the exchanges are written to.")
    replay: Path | None = Field(default=None, description="File the exchanges are read from.")
    offline: bool = Field(default=False, description="Refuse every connection off this machine.")

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """`(tokens_in * price_in + tokens_out * price_out) / 1e6`; None without prices.

        >>> ModelSettings(price_in=2.0, price_out=8.0).cost(500_000, 250_000)
        3.0
        """
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6

    def own(self, role: str) -> RoleModel | None:
        """The own settings of a role; None where it has none."""
        return next((one for name, one in self.roles.items() if name == role), None)

    @property
    def mode(self) -> ExchangeMode:
        """The mode of exchanges: recorded, replayed or neither."""
        if self.replay is not None:
            return "replay"
        return "record" if self.record is not None else "off"

    def effective(self) -> dict[str, JsonValue]:
        """The effective settings of a run, without the key or a password in the address."""
        shown: dict[str, JsonValue] = self.model_dump(mode="json", exclude={"api_key"})
        if self.base_url is not None:
            shown["base_url"] = without_credentials(self.base_url)
        return shown


def without_credentials(url: str) -> str:
    """The address without a user name and password.

    >>> without_credentials("http://me:secret@127.0.0.1:8808/v1")
    'http://127.0.0.1:8808/v1'
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an open bracket
        return url.rpartition("@")[2]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _is_address(url: str) -> bool:
    try:
        known, _ = urlsplit(url).scheme in ("http", "https"), urlsplit(url).port
    except ValueError:  # such as an open bracket, or a port that is no number
        return False
    return known


def require_known(environment: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse `RULEWRIGHT_` variables that nobody reads.

    Raises:
        SettingsError: Naming every unknown one and the known ones.
    """
    unknown = sorted(n for n in environment if n.startswith(PREFIX) and n not in known)
    if unknown:
        listed = ", ".join(sorted(name for name in known if name.startswith(PREFIX)))
        raise SettingsError(f"unknown setting {', '.join(unknown)}; known settings are: {listed}")


def read_settings(
    environment: Mapping[str, str], *, also_known: Collection[str] = ()
) -> ModelSettings:
    """Read the model's settings from the environment; an empty value counts as not set.

    Args:
        environment: Such as `os.environ`.
        also_known: Further `RULEWRIGHT_` names, which other rooms read.

    Raises:
        SettingsError: Naming every unknown `RULEWRIGHT_` variable and the known ones, or the
            value that is out of range, or the settings that contradict each other.
    """
    ours = [variable_of(field) for field in ModelSettings.model_fields]
    require_known(environment, [*ours, *also_known])
    try:
        settings = ModelSettings.model_validate(
            {name: environment[name] for name in ours if environment.get(name)}
        )
    except ValidationError as error:
        raise out_of_range(error) from None
    return _consistent(settings)


def out_of_range(error: ValidationError, names: Mapping[str, str] | None = None) -> SettingsError:
    """The error that names each wrong setting, by the variable that `names` has for its field."""
    lines = []
    for problem in error.errors():
        field, said = str(problem["loc"][-1]), problem["msg"]
        name = (names or {}).get(field, field)
        lines.append(f"{name}: {said[:1].lower()}{said[1:]}, got {problem['input']!r:.80}")
    return SettingsError("settings out of range: " + "; ".join(lines))


def _consistent(settings: ModelSettings) -> ModelSettings:
    if settings.record is not None and settings.replay is not None:
        raise SettingsError("RULEWRIGHT_RECORD and RULEWRIGHT_REPLAY exclude each other; unset one")
    if (settings.price_in is None) != (settings.price_out is None):
        raise SettingsError("set both RULEWRIGHT_PRICE_IN and RULEWRIGHT_PRICE_OUT, or neither")
    if settings.max_dollars is not None and settings.price_in is None:
        raise SettingsError(
            "RULEWRIGHT_MAX_DOLLARS needs prices: set RULEWRIGHT_PRICE_IN and RULEWRIGHT_PRICE_OUT "
            "(dollars a million tokens)"
        )
    if settings.base_url is not None and not _is_address(settings.base_url):
        raise SettingsError(
            f"OPENAI_BASE_URL is {without_credentials(settings.base_url)!r}; required: an address "
            "such as http://127.0.0.1:8000/v1"
        )
    key = settings.api_key or ""
    if not (key.isascii() and key.isprintable()):  # RFC 9110, 5.5: a header takes no other
        raise SettingsError(
            "OPENAI_API_KEY holds a sign that no key has, such as a curly quote, a dash or a line "
            "end; copy the key again"
        )
    reachable = settings.base_url or settings.api_key or settings.replay
    if settings.model is not None and not reachable:
        raise SettingsError(
            f"RULEWRIGHT_MODEL is {settings.model!r}, but there is no endpoint to ask: set "
            "OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"
        )
    return settings
