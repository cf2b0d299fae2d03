"""Settings of the command line."""

from pydantic import Field, SecretStr

from operations.query_service import QueryServiceSettings
from runtime.settings import Settings


class CommandSettings(QueryServiceSettings, Settings):
    """Addresses of the bus, the stores and the query service of a deployment, and its embedding
    model.
    """

    lightstream_workspace: str = Field(
        default="default", description="the tenant, where --workspace names none"
    )
    lightstream_actor: str = Field(
        default="",
        description=(
            "in whose name commands and the Python client publish, never a secret; empty: os:<user>"
        ),
    )
    milvus_services_token: SecretStr = Field(
        default=SecretStr(""),
        description=(
            "account `user:password` that `stores apply` makes in Milvus for the services; empty: "
            "none"
        ),
    )
    lightstream_mcp_host: str = Field(
        default="127.0.0.1", description="where `lightstream mcp --http` listens"
    )
    lightstream_mcp_names: str = Field(
        default="",
        description="further names and addresses under which its clients reach it, with commas",
    )


def read_settings() -> CommandSettings:
    """Read the settings. Raises ConfigurationError."""
    return CommandSettings()
