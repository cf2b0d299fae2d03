"""Mails of a real IMAP server: listed by number, read as they are, and none marked as read."""

import imaplib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from embedded.processes import Process, free_port, listening
from operations.sources.open import open_source
from operations.sources.sync import Sync, SyncRequest
from runtime.bus.memory import MemoryBlobs, MemoryLog
from runtime.errors import InvalidInput, Unavailable

PASSWORD = "secret-of-ada"
MAIL = b"From: ada@example.org\r\nSubject: Mill\r\n\r\nAda Marlow grinds barley.\r\n"

pytestmark = pytest.mark.nightly


class MailServer:
    """A server in memory with one user, and what another client does there."""

    def __init__(self, port: int) -> None:
        self.port = port

    def client(self) -> imaplib.IMAP4:
        client = imaplib.IMAP4("127.0.0.1", self.port)
        client.login("ada", PASSWORD)
        return client

    def append(self, mail: bytes) -> None:
        with self.client() as client:
            assert client.append("Port", "", "", mail)[0] == "OK"

    def seen(self) -> bytes:
        """What the server says of mails that somebody has read."""
        with self.client() as client:
            client.select("Port", readonly=True)
            return client.search(None, "SEEN")[1][0]

    def remove_first(self) -> None:
        with self.client() as client:
            client.select("Port")
            client.store("1", "+FLAGS", r"\Deleted")
            client.expunge()


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MailServer]:
    port = free_port()

    async def probe() -> None:
        if not listening(port):
            raise Unavailable(f"nobody listens on port {port} yet")

    program = [str(Path(sys.executable).with_name("pymap")), "--host", "127.0.0.1"]
    user = ["dict", "--demo-data", "--demo-user", "ada", "--demo-password", PASSWORD]
    process = Process("imap", [*program, "--port", str(port), "--no-tls", *user], tmp_path, probe)
    monkeypatch.setenv("SOURCE_PASSWORD", PASSWORD)
    await process.start()
    try:
        mail_server = MailServer(port)
        with mail_server.client() as client:
            client.create("Port")
        yield mail_server
    finally:
        await process.stop()


async def test_new_mails_are_added_and_those_that_are_gone_deleted(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.append(MAIL)
    server.append(MAIL.replace(b"Mill", b"Quay").replace(b"grinds", b"sells"))
    address = f"imap://ada@127.0.0.1:{server.port}/Port"
    log, blobs = MemoryLog(), MemoryBlobs()
    added: list[int] = []
    deleted: list[int] = []
    for change in (None, lambda: server.append(MAIL.replace(b"Mill", b"Inn")), server.remove_first):
        if change:
            change()
        source = open_source(address)
        outcome = await Sync(log, blobs, source, SyncRequest("w", most_gone=0.5)).run()
        await source.close()
        assert not outcome.has_failed
        added.append(len(outcome.additions))
        deleted.append(len(outcome.deletions))
    assert (added, deleted) == ([2, 1, 0], [0, 0, 1])
    assert any(b"Ada Marlow grinds barley." in message.data for message in log.messages)
    assert server.seen() == b""

    nowhere = open_source(address.replace("Port", "Absent"))
    with pytest.raises(InvalidInput, match="has no mailbox Absent"):
        await nowhere.list_items("")
    await nowhere.close()
    monkeypatch.setenv("SOURCE_PASSWORD", "wrong")
    refusing_source = open_source(address)
    with pytest.raises(InvalidInput, match="refuses the user"):
        await refusing_source.list_items("")
    await refusing_source.close()
