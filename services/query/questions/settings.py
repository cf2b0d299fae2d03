"""Settings of questions that go from one process to another."""

from pydantic import Field, SecretStr, field_validator

from runtime.errors import ConfigurationError
from runtime.settings import Settings
from runtime.variables import http_address
from services.query.settings import QuerySettings

SHORTEST_KEY = 16
"""Characters of QUESTIONS_KEY at least."""


class QuestionKeySettings(Settings):
    """What the gateway shows to the query service where they are processes of their own."""

    questions_key: SecretStr = Field(
        default=SecretStr(""),
        description="what the gateway shows to a query service apart; 16 characters or more",
    )

    def required_key(self) -> str:
        """Return the key. Raises ConfigurationError for none, or a short one."""
        key = self.questions_key.get_secret_value()
        if len(key) < SHORTEST_KEY:
            raise ConfigurationError(
                "QUESTIONS_KEY has to be the same for the gateway and the query service, with "
                f"{SHORTEST_KEY} characters or more: whoever has it may ask in every workspace"
            )
        return key


class QuestionClientSettings(QuestionKeySettings):
    """Where the gateway asks."""

    questions_url: str = Field(
        default="",
        description="where a query service apart answers; empty: this process answers",
    )

    _has_address = field_validator("questions_url")(http_address)


class QuestionServerSettings(QuestionKeySettings, QuerySettings):
    """Settings of the query service as a process of its own."""

    port: int = Field(default=9626, ge=0, le=65535, description="questions of the gateway")
