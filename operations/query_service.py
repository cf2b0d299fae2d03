"""Selects the query service of a command, and asks it with the credentials of the environment.

Nothing here loads the settings of the bus, the stores and the models, which take a fifth of the CPU
of a command that asks the query service alone.
"""

import os
from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr, field_validator

from embedded.data_folder import DataFolder
from lightstream_rag.client import AsyncLightstream
from runtime.environment_settings import EnvironmentSettings
from runtime.variables import FILE, http_address

DEPLOYMENT_VARIABLES = ("NATS_URL", f"NATS_URL{FILE}")


class QueryServiceSettings(EnvironmentSettings):
    """The address of a deployment's query service, and the credentials that commands send."""

    lightstream_api_url: str = Field(
        default="http://127.0.0.1:9621", description="the query service"
    )
    lightstream_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("LIGHTSTREAM_API_KEY", "LIGHTRAG_API_KEY"),
        description="what commands send to the query service",
    )
    lightstream_api_token: SecretStr = Field(
        default=SecretStr(""), description="a login's token, sent beside or instead of a key"
    )

    _has_address = field_validator("lightstream_api_url")(http_address)


def named_by_environment(data: Path | None) -> bool:
    """Return True if a command with this option `--data` is about a deployment."""
    return data is None and any(os.environ.get(name) for name in DEPLOYMENT_VARIABLES)


def query_address(data: Path | None) -> str:
    """Return the address of the query service of the stack that is meant: see `operations.target`.

    Raises `NoStack` for a folder without one, ConfigurationError for an address of no use.
    """
    if named_by_environment(data):
        return QueryServiceSettings().lightstream_api_url
    return DataFolder.at(data).ready_state().api


def query_client(base: str, workspace: str) -> AsyncLightstream:
    """Return a client of the query service at `base`, with the credentials of the environment.

    Raises ConfigurationError for variables that cannot be used.
    """
    settings = QueryServiceSettings()
    key = settings.lightstream_api_key.get_secret_value()
    token = settings.lightstream_api_token.get_secret_value()
    return AsyncLightstream(base, api_key=key, token=token, workspace=workspace)
