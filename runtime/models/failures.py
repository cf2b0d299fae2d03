"""What a failed call means: which error it is if the provider is its cause, and which if the text
is.

A provider that is overloaded, silent, refuses the key or knows no such model is worth another try
later, so nothing is lost by it. Codes that name content or length are believed; every other status
can be about either. No wording counts.
"""

from dataclasses import dataclass

from runtime.errors import ModelRefused, RateLimited, Refusal, ServiceError, Unavailable
from runtime.models.provider_errors import ProviderError, shown, shown_to_askers

AT_ONCE = 1
"""Failures of a text that was refused (4xx) after which it is the cause, if the provider answers
another then.
"""

TRIES = 5
"""Failures of a text after which it is the cause, where the answer is useless or the server
breaks.
"""

OVERLOAD_TRIES = 8
"""The same where the server says that it is overloaded: a long text may fail where a short one
still passes.
"""

WAIT_TRIES = 12
"""The same where it asks to wait and does not say how long, as for a text of more tokens than a
minute has.
"""

NEVER = 0
"""The provider is the cause, whatever it answers to others."""

OVERLOADED = (502, 503, 504, 529)
TRANSIENT = (408, 409, 425)
"""Statuses below 500 that are about the moment."""

NO_QUOTA = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}
)
NO_KEY = frozenset({"invalid_api_key", "API_KEY_INVALID", "authentication_error"})
NO_MODEL = frozenset({"model_not_found", "invalid_model", "unknown_model", "DeploymentNotFound"})
FILTERED = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "content_policy"}
)
TOO_LONG = frozenset(
    {"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"}
)


class Failure(Exception):
    """A failed call. It never leaves the models: whoever asked gets one of both errors.

    `tries`: failures of one text after which that is the cause, while the provider answers others.
    `waits`: the provider asked for a pause, which is kept meanwhile. `well`: the provider has
    answered the control since.
    """

    well = False

    def __init__(
        self,
        provider: ServiceError,
        text: ModelRefused,
        tries: int,
        *,
        status: int = 0,
        waits: bool = False,
    ) -> None:
        super().__init__(str(provider))
        self.provider = provider
        self.text = text
        self.tries = tries
        self.status = status
        self.waits = waits


@dataclass(frozen=True)
class Sender:
    """Whom messages name: the provider, the settings that describe it, and secrets that none may
    show. `key_name`: the settings that say who asks, where that is no API key.
    """

    name: str
    settings: str
    secrets: tuple[str, ...] = ()
    key_name: str = ""

    @property
    def _key_settings(self) -> str:
        return self.key_name or f"{self.settings}_API_KEY"

    def useless(self, reason: str, sentence: str = "") -> Failure:
        """Return the failure of an answer that cannot be used. `sentence`: what the provider itself
        says in it.
        """
        reason = shown(reason, self.secrets)
        text = ModelRefused(reason, "text", shown_to_askers(sentence, self.secrets))
        return Failure(Unavailable(reason), text, TRIES)

    def certain(self, reason: str) -> Failure:
        """Return a failure that no text can have caused."""
        return Failure(Unavailable(reason), ModelRefused(reason, "request"), NEVER)

    def silent(self, reason: str) -> Failure:
        """Return the failure of a call without an answer, which one text may cause, too."""
        return Failure(Unavailable(reason), ModelRefused(reason, "text"), TRIES)

    def refused(self, error: ProviderError, retry_after: float | None) -> Failure | ModelRefused:
        """Return what an error of the provider means, with its own sentence for whoever asked."""
        meaning = self._meaning(error, retry_after)
        text = meaning.text if isinstance(meaning, Failure) else meaning
        text.sentence = shown_to_askers(error.sentence, self.secrets)
        return meaning

    def _meaning(self, error: ProviderError, retry_after: float | None) -> Failure | ModelRefused:
        reason = f"{self._answered(error)}: {shown(error.sentence, self.secrets)}"
        if error.codes & FILTERED:
            return ModelRefused(f"{self.name} refuses this content: {reason}", "content")
        if error.codes & TOO_LONG:
            return ModelRefused(f"{self.name} takes no text of this length: {reason}", "length")
        if error.status == 402 or error.codes & NO_QUOTA:
            return self.certain(
                f"{self.name} has no quota left for this key ({reason}): add some, or change "
                f"{self._key_settings}"
            )
        if error.status == 429:
            return self._asks_to_wait(reason, retry_after)
        if error.status >= 500 or error.status in (0, *TRANSIENT):
            return self._broke(error.status, reason, retry_after)
        return self._refused(error, reason)

    def _answered(self, error: ProviderError) -> str:
        return f"HTTP {error.status}" if error.status else "an error"

    def _asks_to_wait(self, reason: str, retry_after: float | None) -> Failure:
        wait = RateLimited(f"{self.name} asks to wait: {reason}", retry_after=retry_after)
        text = ModelRefused(f"{self.name} always asks to wait with this text: {reason}", "text")
        tries = WAIT_TRIES if retry_after is None else NEVER
        return Failure(wait, text, tries, status=429, waits=True)

    def _broke(self, status: int, reason: str, retry_after: float | None) -> Failure:
        provider = Unavailable(f"{self.name} answered {reason}", retry_after=retry_after)
        text = ModelRefused(f"{self.name} fails for this text: {reason}", "text")
        tries = OVERLOAD_TRIES if status in OVERLOADED else TRIES
        return Failure(provider, text, tries, status=status, waits=retry_after is not None)

    def _refused(self, error: ProviderError, reason: str) -> Failure:
        status = error.status
        codes = error.codes
        if status in (401, 403) or codes & NO_KEY:
            message = f"{self.name} refused the key ({reason}): change {self._key_settings}"
        elif status == 404 or codes & NO_MODEL:
            message = (
                f"{self.name} knows no such model, or no such address: "
                f"change {self.settings}_MODEL or {self.settings}_BASE_URL; {reason}"
            )
        else:
            message = f"{self.name} refused the request ({reason}); it refuses every other one, too"
        text = ModelRefused(f"{self.name} refuses this text: {reason}", _kind(status))
        return Failure(Unavailable(message), text, AT_ONCE, status=status)


def _kind(status: int) -> Refusal:
    return "content" if status in (401, 403, 451) else "request"
