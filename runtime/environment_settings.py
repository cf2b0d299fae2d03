"""Settings out of the environment, or out of files that it names; an empty variable is the same as
none.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from runtime.errors import ConfigurationError
from runtime.variables import Fault, SecretFiles, faults, idle_secret_files


class UnusableSettings(ConfigurationError):
    """Variables that cannot be used; the message has a line for each fault."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(fault.sentence for fault in faults))
        self.faults = tuple(faults)


class EnvironmentSettings(BaseSettings):
    """What every group of settings is."""

    model_config = SettingsConfigDict(
        extra="ignore", populate_by_name=True, env_ignore_empty=True, hide_input_in_errors=True
    )

    def __init__(self, **values: Any) -> None:
        """Read what is not given from the environment. Raises UnusableSettings with every
        variable that cannot be used and what it must be, but no value: that may be a secret.
        """
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise UnusableSettings(faults(type(self), error)) from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read secrets from files too, where the environment names one."""
        return init_settings, SecretFiles(settings_cls), env_settings

    @property
    def contradictions(self) -> list[str]:
        """What was set and has no effect, or contradicts itself, in sentences without values."""
        return idle_secret_files(type(self), os.environ)


def unusable(groups: Iterable[type[EnvironmentSettings]]) -> list[Fault]:
    """Return what of these groups cannot be used, each once."""
    faults: list[Fault] = []
    for group in groups:
        try:
            group()
        except UnusableSettings as error:
            faults += error.faults
        except ConfigurationError as error:  # the file of a secret
            faults.append(Fault("", str(error)))
    return list(dict.fromkeys(faults))
