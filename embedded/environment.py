"""Settings from the variables with which a running stack was started, instead of this process's
own.

A command in another shell must work with the models of the stack it is about, whatever its own
variables say. They are read from the environment of the stack's services, which Linux shows to
their user alone; keys are in no file.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar, cast

from pydantic_settings import PydanticBaseSettingsSource

from embedded.data_folder import StackState
from embedded.orphans import PROC, ProcessIdentity
from runtime.settings import Settings
from runtime.variables import secret_files, variables

S = TypeVar("S", bound=Settings)


def stack_environment(state: StackState) -> Mapping[str, str]:
    """The variables of the running stack: those of a service, else of its supervisor.

    Those of this process where they cannot be read, as on a system without /proc.
    """
    services = [child.identity for child in state.children.values()]
    for identity in [*services[::-1], *([state.supervisor] if state.supervisor else [])]:
        if stack_variables := _variables(identity):
            return stack_variables
    return os.environ


def settings_from(kind: type[S], environ: Mapping[str, str]) -> S:
    """The settings that a process with these variables has. Raises ConfigurationError for values of
    no use, and for a file of a secret that cannot be read.
    """

    class FromVariables(kind):
        @classmethod
        def settings_customise_sources(  # pyright: ignore[reportIncompatibleMethodOverride] - the others by any name
            cls,
            settings_cls: object,
            init_settings: PydanticBaseSettingsSource,
            **_: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return (init_settings,)

    upper = {name.upper(): value for name, value in environ.items() if value}
    values: dict[str, str] = {}
    for name, field in kind.model_fields.items():
        set_variable = next(
            (variable for variable in variables(name, field) if variable in upper), None
        )
        if set_variable:
            values[name] = upper[set_variable]
    values |= {name: file.content for name, file in secret_files(kind, environ).items()}
    return cast(S, FromVariables.model_validate(values))


def _variables(identity: ProcessIdentity) -> dict[str, str]:
    """Return the environment of a running process; empty when it has ended."""
    assignments: dict[str, str] = {}
    with suppress(OSError):
        if identity.alive:
            text = (PROC / str(identity.pid) / "environ").read_bytes()
            pairs = (os.fsdecode(entry).partition("=") for entry in text.split(b"\0") if entry)
            assignments = {name: value for name, _, value in pairs}
    return assignments if identity.alive else {}
