"""What the routes of webhooks work with."""

from dataclasses import dataclass
from typing import Annotated

from runtime.bus.feed.port import EventFeed
from runtime.bus.port import Log
from services.gateway.dependencies import depends_on
from services.gateway.webhooks.delivery import Webhooks
from services.gateway.webhooks.endpoints import Endpoints
from services.gateway.webhooks.trials import Trials


@dataclass(frozen=True)
class WebhookDependencies:
    """The registered addresses and what sends to them, and the events that are sent."""

    webhooks: Webhooks
    trials: Trials
    log: Log
    feed: EventFeed

    @property
    def endpoints(self) -> Endpoints:
        """Return the registered addresses."""
        return self.webhooks.endpoints


WebhookDeps = Annotated[WebhookDependencies, depends_on(WebhookDependencies)]
