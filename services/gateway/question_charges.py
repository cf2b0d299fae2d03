"""Notes what each request paid models for."""

from starlette.types import ASGIApp, Receive, Scope, Send

from runtime.models.call_scope import billed_calls
from services.gateway.dependencies import provided
from services.query.charges import Charges


class QuestionCharges:
    """Notes what each request paid. A request that paid nothing costs nothing more."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with billed_calls() as bill:
            try:
                await self._app(scope, receive, send)
            finally:
                if bill:
                    charges = provided(scope["app"], Charges)
                    assert charges is not None, "nothing is paid before the service is wired"
                    charges.note(bill)
