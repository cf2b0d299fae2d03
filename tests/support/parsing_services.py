"""A server on this machine that answers as Docling Serve 1.21 and MinerU's API do where they
read files.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import BodyPartReader, web

MARKDOWN = "# Tide tables\n\n| day | height |\n|---|---|\n| Monday | 3.1 m |"


@dataclass
class ParsingServer:
    """What it has been sent, and how it answers."""

    url: str = ""
    forms: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    keys: list[str] = field(default_factory=list[str])
    polls: int = 0
    polls_until_done: int = 2
    outcome: str = "success"
    status: int = 200

    async def form(self, request: web.Request) -> dict[str, str]:
        """Keep the fields of a form, of files their names, and the key."""
        fields: dict[str, str] = {}
        async for part in await request.multipart():
            assert isinstance(part, BodyPartReader) and part.name
            content = (await part.read(decode=False)).decode("latin-1")
            fields[part.name] = f"{part.filename}: {content}" if part.filename else content
        self.forms.append(fields)
        self.keys.append(request.headers.get("X-Api-Key") or "")
        return fields

    def refusal(self) -> web.Response | None:
        """Return the refusal that was asked for."""
        if self.status == 200:
            return None
        return web.json_response({"detail": "the file is damaged"}, status=self.status)

    async def convert(self, request: web.Request) -> web.Response:
        """POST /v1/convert/file/async"""
        await self.form(request)
        task = {"task_id": "t-1", "task_type": "convert", "task_status": "pending"}
        return self.refusal() or web.json_response(task)

    async def poll(self, request: web.Request) -> web.Response:
        """GET /v1/status/poll/{task_id}"""
        self.polls += 1
        state = "started" if self.polls < self.polls_until_done else self.outcome
        message = "the model ran out of memory" if state == "failure" else None
        return web.json_response(
            {"task_id": request.match_info["id"], "task_status": state, "error_message": message}
        )

    async def result(self, request: web.Request) -> web.Response:
        """GET /v1/result/{task_id}"""
        page_break = self.forms[-1]["md_page_break_placeholder"]
        document = {
            "filename": "tides.pdf",
            "md_content": f"{MARKDOWN}\n\n{page_break}\n\nPage two",
        }
        return web.json_response(
            {"document": document, "status": "success", "errors": [], "processing_time": 1.5}
        )

    async def file_parse(self, request: web.Request) -> web.Response:
        """POST /file_parse"""
        await self.form(request)
        results = {"tides": {"md_content": MARKDOWN}}
        return self.refusal() or web.json_response(
            {"backend": "pipeline", "version": "2.6.4", "results": results}
        )


@asynccontextmanager
async def parsing_server() -> AsyncGenerator[ParsingServer]:
    """Run the server."""
    server = ParsingServer()
    app = web.Application()
    app.add_routes(
        [
            web.post("/v1/convert/file/async", server.convert),
            web.get("/v1/status/poll/{id}", server.poll),
            web.get("/v1/result/{id}", server.result),
            web.post("/file_parse", server.file_parse),
        ]
    )
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()
