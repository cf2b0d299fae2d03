"""`lightstream add` on a real bus: what files become, in which encoding, and what is said about a
doubt.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from contracts.events import DocumentAdded
from runtime.bus.codec import decode
from tests.support import commands
from tests.support import office_files as office
from tests.support.encoded_texts import SAMPLES
from tests.support.nats_server import BusServer, connected

FRENCH = SAMPLES[0].paragraph
SWEDISH = SAMPLES[1].paragraph


async def add(url: str, *arguments: str) -> tuple[int, Any, str]:
    process = await asyncio.create_subprocess_exec(
        *commands.beginning(),
        "add",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NATS_URL": url},
    )
    output, messages = await asyncio.wait_for(process.communicate(), 120)
    return (
        process.returncode or 0,
        json.loads(output) if "--json" in arguments else output.decode(),
        messages.decode(),
    )


async def events(server: BusServer) -> dict[str, DocumentAdded]:
    result: dict[str, DocumentAdded] = {}
    async with connected(server) as client:
        jetstream = client.jetstream()
        for sequence in range(1, (await jetstream.stream_info("KB_EVENTS")).state.messages + 1):
            message = await jetstream.get_msg("KB_EVENTS", sequence)
            event = decode(message.data or b"", message.subject or "").data
            assert isinstance(event, DocumentAdded)
            result[event.file_path] = event
    return result


async def test_files_of_a_folder_are_read_each_in_its_encoding(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, data in {
        "fr.txt": FRENCH.encode("latin-1"),
        "sv.log": SWEDISH.encode("cp1252"),
        "short.txt": "Łódź".encode("iso-8859-2"),
        "main.py": "# größe\nsize = 5\n".encode(),
        "book.odt": office.odt(),
        "book.epub": office.epub(),
        "book.rtf": office.RICH_TEXT,
        "program": b"\x7fELF\0\0",
    }.items():
        (folder / name).write_bytes(data)
    code, outcome, _ = await add(server.url, str(folder), "--json")
    assert (code, len(outcome["added"]), outcome["refused"], len(outcome["skipped"])) == (
        0,
        7,
        [],
        1,
    )
    assert [(doubt["name"], doubt["warning"].split(":")[0]) for doubt in outcome["warnings"]] == [
        ("book.epub", "1 picture was left out"),
        ("book.odt", "1 tracked deletion was left out"),
        ("short.txt", outcome["warnings"][2]["warning"].split(":")[0]),
    ]
    assert "encoding" in outcome["warnings"][2]["warning"]
    result = await events(server)
    assert result["book.odt"].warnings == (
        "1 tracked deletion was left out: changes are read as accepted",
    )
    assert (result["fr.txt"].text, result["sv.log"].text) == (FRENCH, SWEDISH)
    assert result["fr.txt"].metadata["encoding"] == "windows-1252"
    assert "encoding_warning" in result["short.txt"].metadata
    assert (result["main.py"].text or "").startswith("# größe")
    assert all("Åsa" in (result[name].text or "") for name in ("book.odt", "book.epub", "book.rtf"))

    code, _, messages = await add(server.url, str(folder / "short.txt"))
    assert (code, "warning short.txt: read as" in messages, "--encoding NAME" in messages) == (
        0,
        True,
        True,
    )
    code, _, messages = await add(server.url, str(folder / "short.txt"), "--encoding", "latin2")
    assert (code, "warning" in messages) == (0, False)
    document = (await events(server))["short.txt"]
    assert (document.text, document.metadata["encoding"]) == ("Łódź", "iso-8859-2")
