"""The query service as a process of its own: it answers the questions of a gateway apart, and
takes every event for the status projection.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette

from runtime.health import Health
from runtime.metrics import exposition
from runtime.service import Bus, Subscription, read_settings, run, starting
from services.query.question_service import open_question_service
from services.query.questions.server import QuestionServer
from services.query.questions.settings import QuestionServerSettings


def main() -> None:
    """Run the service."""
    settings = read_settings("query", QuestionServerSettings)
    with starting("query", settings):
        server = QuestionServer(settings.required_key())
    app = Starlette(routes=[server.mount()])
    run("query", settings, partial(build, settings, app, server), app)


@asynccontextmanager
async def build(
    settings: QuestionServerSettings,
    app: Starlette,
    server: QuestionServer,
    bus: Bus,
    health: Health,
) -> AsyncGenerator[Sequence[Subscription]]:
    """Let the server answer, and yield what follows the log for it."""
    app.router.routes.append(exposition.route(health.readings))
    async with open_question_service(settings, bus, health) as service:
        server.questions = service.questions
        server.charges = service.charges
        server.require = bus.integrity.require
        yield [service.subscription]


if __name__ == "__main__":
    main()
