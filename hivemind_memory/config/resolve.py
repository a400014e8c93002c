"""Where the value of an option comes from: flag, environment, file, default.

The order is settled in ``_pick`` and nowhere else.
"""

from __future__ import annotations

from hivemind_memory.config.file import CONFIG_NAME, ConfigFile, read_config
from hivemind_memory.config.misplaced import find_misplaced
from hivemind_memory.config.option import Option
from hivemind_memory.config.settings import Settings, options
from hivemind_memory.config.values import (
    InvalidPartError,
    allowed_values,
    check_value,
    parse_value,
)
from hivemind_memory.errors import ConfigError
from hivemind_memory.model.display import shorten
from hivemind_memory.model.embedding_providers import PROVIDER_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

Origin = str
"""``flag``, the name of a variable, ``file`` or ``default``."""

_NOTHING: dict[str, object] = {}

_NO_EMBEDDINGS = {"anthropic": "Anthropic", "claude": "Claude", "groq": "Groq"}

OTHER_PROVIDERS = (
    f"Set it to {', '.join(PROVIDER_NAMES)} or none;"
    " with none, searches are by keyword."
)
"""The hint for one without embeddings."""

_SAFE = {"embedding_provider": "none"}
"""Used instead of a bad value where the default could do more than was asked for."""

WORKSPACE_VARIABLE = "HIVEMIND_WORKSPACE"
"""The variable that says whose memory is opened, before any option is read."""


def load_settings(
    home: str,
    environ: Mapping[str, str],
    flags: Mapping[str, object] = _NOTHING,
) -> Settings:
    """Return the settings in effect for the home folder *home*.

    A value that cannot be used leaves its option at the default, and
    ``Settings.unusable`` says why: one mistake must not take the whole memory away.

    Args:
        home: Folder that holds config.json; neither has to exist.
        environ: Environment variables.
        flags: Option name -> value, for what a command line said; None: not said.

    Raises:
        ConfigError: A flag has a value that is not allowed.
    """
    separator = "" if home.endswith("/") else "/"
    path = f"{home}{separator}{CONFIG_NAME}"
    unusable: dict[str, str] = {}
    try:
        file = read_config(path)
    except ConfigError as error:
        file = ConfigFile(path, {}, {})
        unusable[CONFIG_NAME] = _sentence(
            error, "Every option has its default, and nothing is saved."
        )
    return resolve(file, environ, flags, unusable=unusable)[0]


def resolve(
    file: ConfigFile,
    environ: Mapping[str, str],
    flags: Mapping[str, object] = _NOTHING,
    *,
    unusable: dict[str, str] | None = None,
) -> tuple[Settings, dict[str, Origin]]:
    """Return the settings in effect, and for each option where its value is from.

    Args:
        file: What config.json says.
        environ: Environment variables.
        flags: As for ``load_settings``.
        unusable: Gets, for each option of the file or the environment that cannot be
            used, why; its default is taken. None: such a value is an error.

    Raises:
        ConfigError: A value is not allowed; the message names place, key and value.
    """
    values: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    table = options()
    for name, option in table.items():
        try:
            values[name], origins[name] = _pick(option, file, environ, flags)
        except ConfigError as error:
            if unusable is None or flags.get(name) is not None:
                raise
            values[name] = _SAFE.get(name, option.default)
            origins[name] = "default"
            unusable[name] = _sentence(error, f"{_shown(values[name])} is used.")
    if unusable is not None:
        for name, why in find_misplaced(file, table).items():
            unusable.setdefault(name, why)
    try:
        _check_together(values, origins)
    except ConfigError as error:
        if unusable is None:
            raise
        values["chunk_overlap_chars"] = 0
        unusable["chunk_overlap_chars"] = _sentence(error, "0 is used.")
    key_variables = table["openai_api_key"].env
    settings = Settings(
        **values,  # type: ignore[arg-type]  # checked by the table, row by row
        has_key_in_config=bool(file.memory.get("openai_api_key")),
        has_key_in_environment=origins["openai_api_key"] in key_variables,
        unknown_keys=tuple(key for key in file.memory if key not in table),
        unusable=unusable or {},
    )
    return settings, origins


def _sentence(error: ConfigError, instead: str) -> str:
    """Return what is wrong, what is done instead, and what to do about it."""
    return f"{error} {instead} {error.hint}"


def _pick(
    option: Option,
    file: ConfigFile,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
) -> tuple[object, Origin]:
    """Return the value that wins and its origin: flag, environment, file, default."""
    flag = flags.get(option.name)
    if flag is not None:
        return _checked(option, flag, "the command line"), "flag"
    for variable in option.env:
        text = environ.get(variable, "")
        if text:  # set and empty counts as not set, as shells make it easy
            try:
                return parse_value(option, text), variable
            except ValueError as error:
                raise _refusal(option, text, f"variable {variable}", error) from error
    if option.name in file.memory:
        value = file.memory[option.name]
        place = f"{file.path}: memory.{option.name}"
        return _checked(option, value, place), "file"
    return option.default, "default"


def _checked(option: Option, value: object, place: str) -> object:
    """Return a checked value, or say where the bad one stands."""
    try:
        return check_value(option, value)
    except ValueError as error:
        raise _refusal(option, value, place, error) from error


def _refusal(
    option: Option, value: object, place: str, error: ValueError
) -> ConfigError:
    """Return the error for a value that is not allowed; a secret stays unsaid."""
    if isinstance(error, InvalidPartError):
        return ConfigError(f"{place}: {error}", hint=_hint(option, place))
    shown = "" if option.is_secret else f" {_shown(value)}"
    if name := name_without_embeddings(option, value):
        return ConfigError(
            f"{place} names {name}, which has no embeddings.", hint=OTHER_PROVIDERS
        )
    message = f"{place} has the value{shown}, but must be {allowed_values(option)}."
    return ConfigError(message, hint=_hint(option, place))


def name_without_embeddings(option: Option, value: object) -> str:
    """Return the name of the provider without embeddings that a value names, or ""."""
    is_provider = option.name == "embedding_provider"
    return _NO_EMBEDDINGS.get(str(value).lower(), "") if is_provider else ""


def _hint(option: Option, place: str) -> str:
    if place.startswith("variable"):
        return f"Set {option.env[0]} to an allowed value, or unset it."
    return (
        f"`hm config set {option.name} VALUE` changes it,"
        f" `hm config unset {option.name}` removes it."
    )


def _shown(value: object) -> str:
    """Return a value as a person knows it from JSON, bounded."""
    if value is None:
        return "null"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return shorten(text, 60)


def _check_together(
    values: Mapping[str, object], origins: Mapping[str, Origin]
) -> None:
    """Check options that depend on each other."""
    overlap, size = values["chunk_overlap_chars"], values["chunk_chars"]
    if overlap < size:  # type: ignore[operator]  # both are int, by the table
        return
    message = (
        f"chunk_overlap_chars is {overlap} (from {origins['chunk_overlap_chars']})"
        f" and chunk_chars {size} (from {origins['chunk_chars']}), but the overlap"
        " must be smaller."
    )
    raise ConfigError(message, hint="Reduce chunk_overlap_chars; the default is 0.")
