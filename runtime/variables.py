"""The environment variables of settings: their names, which of them hold secrets, and files that
hold these.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, get_args

from pydantic import AliasChoices, BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

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


def is_secret(name: str, field: FieldInfo) -> bool:
    """Whether a setting holds a secret: a password, a key, or an address with one."""
    return name == "nats_url" or SecretStr in (field.annotation, *get_args(field.annotation))


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


def faults(kind: type[BaseModel], error: ValidationError) -> str:
    """Return what is wrong with which variables, in one line."""
    sentences: list[str] = []
    for fault in error.errors():
        reason = fault["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
        place = [str(part) for part in fault["loc"]]
        sentences.append(f"{_set_variable(kind, place[0])}: {reason}" if place else reason)
    return "; ".join(sentences)


def _set_variable(kind: type[BaseModel], name_or_variable: str) -> str:
    """Return which variable of a setting is set in this process's environment, else that which
    counts first.
    """
    for name, field in kind.model_fields.items():
        names = variables(name, field)
        if name_or_variable in (name, *names):
            return next((variable for variable in names if variable in os.environ), names[0])
    return name_or_variable.upper()
