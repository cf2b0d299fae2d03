"""The environment variables of settings: their names, which of them hold secrets, and files that
hold these.
"""

import os
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic import AliasChoices, BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

from runtime.errors import ConfigurationError

FILE = "_FILE"
"""What the name of a variable ends with that names a file with the value of the variable without
it.
"""


def variables(name: str, field: FieldInfo) -> tuple[str, ...]:
    """The variables of a setting, the one that counts first."""
    alias = field.validation_alias
    return (
        tuple(str(choice) for choice in alias.choices)
        if isinstance(alias, AliasChoices)
        else (name.upper(),)
    )


def http_address(text: str) -> str:
    """Return an address of HTTP, or the empty text. Raises ValueError for what is none."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:  # as for an unfinished IPv6 address
        parts = None
    if text and (parts is None or parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError("must be an address that begins with http:// or https://")
    return text


def of_schemes(url: str, *schemes: str) -> str:
    """Return an address with one of these schemes, or the empty text. Raises ValueError for
    another.
    """
    if url and url.partition("://")[0] not in schemes:
        *first_forms, last_form = (f"{scheme}://" for scheme in schemes)
        raise ValueError(f"must begin with {', '.join(first_forms)} or {last_form}")
    return url


def is_secret(name: str, field: FieldInfo) -> bool:
    """Whether a setting holds a secret: a password, a key, or an address with one."""
    return name in _ADDRESSES or SecretStr in (field.annotation, *get_args(field.annotation))


_ADDRESSES = frozenset({"nats_url", "neo4j_uri", "milvus_uri"})
"""Settings of plain text whose URL may hold a password."""


class Given(NamedTuple):
    """A variable that sets something, and the value it gives: its own, or what the file holds that
    it names.
    """

    variable: str
    content: str


def file_content(environ: Mapping[str, str], variable: str) -> str:
    """Return what the file holds that a variable names, without white space around it; empty
    without the variable.

    Raises ConfigurationError for a file that cannot be read.
    """
    if variable not in environ:
        return ""
    try:
        return Path(environ[variable]).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(f"{variable} names a file that cannot be read: {why}") from None


class Fault(NamedTuple):
    """A variable that cannot be used, and the sentence that says so; without a variable where
    several do not go together.
    """

    variable: str
    sentence: str


def faults(kind: type[BaseModel], error: ValidationError) -> list[Fault]:
    """Return what is wrong with which variables, and what they must be."""
    faults: list[Fault] = []
    for mistake in error.errors():
        reason = mistake["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
        place = [str(part) for part in mistake["loc"]]
        variable = _set_variable(kind, place[0]) if place else ""
        faults.append(Fault(variable, f"{variable}: {reason}" if variable else reason))
    return faults


def _set_variable(kind: type[BaseModel], name_or_variable: str) -> str:
    """Return which variable of a setting is set in this process's environment, else that which
    counts first.
    """
    for name, field in kind.model_fields.items():
        names = variables(name, field)
        if name_or_variable in (name, *names):
            return next((variable for variable in names if variable in os.environ), names[0])
    return name_or_variable.upper()


def networks(text: str) -> str:
    """Return addresses and networks with commas between and no blanks, `*` for all of them. Raises
    ValueError for others.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        try:
            ip_network(name if name != "*" else "::", strict=False)
        except ValueError:
            raise ValueError(
                "give addresses or networks with commas between, such as 10.0.0.0/8, or *"
            ) from None
    return ",".join(names)


def secret_files(kind: type[BaseModel], environ: Mapping[str, str]) -> dict[str, Given]:
    """Return the secrets that stand in files, by their settings: `<variable>_FILE` names the file.

    A variable of the same name goes before its file, a setting's first variable before its others.
    An empty file is the same as none. Raises ConfigurationError for a file that cannot be read.
    """
    upper = {name.upper(): value for name, value in environ.items() if value}
    values_by_name: dict[str, Given] = {}
    for name, field in kind.model_fields.items():
        for variable in variables(name, field) if is_secret(name, field) else ():
            if variable in upper:
                break
            if text := file_content(upper, f"{variable}{FILE}"):
                values_by_name[name] = Given(f"{variable}{FILE}", text)
                break
    return values_by_name


def idle_secret_files(kind: type[BaseModel], environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for each `<variable>_FILE` beside a variable that goes before it."""
    names = {
        v
        for name, field in kind.model_fields.items()
        if is_secret(name, field)
        for v in variables(name, field)
    }
    doubly_set = sorted(
        name for name in names if environ.get(name) and environ.get(f"{name}{FILE}")
    )
    return [f"{name}{FILE} has no effect: {name} is set" for name in doubly_set]


class SecretFiles(PydanticBaseSettingsSource):
    """Gives the library what `secret_files` finds in this process's environment, under the name
    that goes first.
    """

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        kind = self.settings_cls
        files_by_name = secret_files(kind, os.environ)
        aliases = {name: kind.model_fields[name].validation_alias for name in files_by_name}
        return {
            str(alias.choices[0])
            if isinstance(alias := aliases[name], AliasChoices)
            else name: file.content
            for name, file in files_by_name.items()
        }


def without_secrets(url: str) -> str:
    """The URL without user and password, for logs and errors."""
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2]  # several of a replica set stay as they are
    return urlunsplit((parts.scheme, hosts, parts.path, "", ""))
