"""A mailbox of an IMAP server as a source."""

import asyncio
from contextlib import suppress
from typing import Any, cast
from urllib.parse import SplitResult, unquote

from operations.sources.port import Listing, SourceFile, SourceItem
from operations.sources.secrets import PASSWORD, USER, credentials
from runtime.errors import InvalidInput, Unavailable

TIMEOUT = 30.0
"""Seconds a server may be silent."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Hosts to which `imap:` may go without encryption."""


class MailSource:
    """The mails of one mailbox, whole and with what is attached; a mail never changes.

    `imaps:` is encrypted from the beginning, `imap:` becomes so by STARTTLS. Nothing is marked as
    read.
    """

    lists_all = True
    versions_tell_content = False

    def __init__(self, address: SplitResult) -> None:
        self.address = address
        self.folder = unquote(address.path).strip("/") or "INBOX"
        self.name = f"{address.scheme}://{address.netloc}/{self.folder}"
        self._mailbox: Any = None
        self._lock = asyncio.Lock()

    async def list_items(self, cursor: str) -> Listing | None:
        """Return the mails; see the port."""
        return await asyncio.to_thread(self._call, self._list)

    def _list(self) -> Listing:
        self._mailbox = self._unopened()
        user, password = credentials(unquote(self.address.username or ""))
        if not (user and password):
            raise InvalidInput(f"a mailbox needs {USER} and {PASSWORD}")
        self._mailbox.login(user, password, initial_folder=None)
        self._mailbox.folder.set(self.folder, readonly=True)
        state = self._mailbox.folder.status(self.folder, ["UIDVALIDITY"])["UIDVALIDITY"]
        label = f"{self.address.hostname}/{self.folder}"
        return Listing(
            [
                SourceItem(f"{state}-{uid}", f"{label}/{uid}.eml", "1")
                for uid in self._mailbox.uids()
            ]
        )

    def _unopened(self) -> Any:
        """Return a connection without a user."""
        import imap_tools  # noqa: PLC0415

        host, port = self.address.hostname or "", self.address.port
        if self.address.scheme == "imaps":
            return imap_tools.MailBox(host, port or 993, TIMEOUT)
        if host in LOOPBACK:
            return imap_tools.MailBoxUnencrypted(host, port or 143, TIMEOUT)
        return imap_tools.MailBoxStartTls(host, port or 143, TIMEOUT)

    async def read(self, item: SourceItem) -> SourceFile:
        """Return a mail; see the port."""
        uid = item.key.rpartition("-")[2]
        async with self._lock:  # one connection, one command at a time
            return await asyncio.to_thread(self._call, self._read, uid)

    def _read(self, uid: str) -> SourceFile:
        status, answer = self._mailbox.client.uid("FETCH", uid, "(BODY.PEEK[])")
        parts = [cast("bytes", part[1]) for part in answer if type(part) is tuple]
        if status != "OK" or not parts:
            raise InvalidInput("is not in the mailbox any more")
        return SourceFile(parts[0], f"{uid}.eml")

    def _call(self, act: Any, *arguments: Any) -> Any:
        """Call the server, and say what is wrong without what it was given."""
        import imaplib  # noqa: PLC0415

        import imap_tools  # noqa: PLC0415

        host = self.address.hostname
        try:
            return act(*arguments)
        except imap_tools.MailboxLoginError:
            raise InvalidInput(f"{host} refuses the user: check {USER} and {PASSWORD}") from None
        except imap_tools.MailboxFolderSelectError:
            raise InvalidInput(f"{host} has no mailbox {self.folder}") from None
        except imap_tools.ImapToolsError as error:
            raise InvalidInput(f"{host} refuses: {type(error).__name__}") from None
        except (imaplib.IMAP4.error, OSError) as error:
            raise Unavailable(f"{host} does not answer: {type(error).__name__}") from None

    async def close(self) -> None:
        """Log out."""
        if self._mailbox is not None:
            with suppress(InvalidInput, Unavailable):
                await asyncio.to_thread(self._call, self._mailbox.logout)
