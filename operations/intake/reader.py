"""Reads the intake: each message becomes a DocumentAdded, a DocumentDeleted, or a dead letter."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from contracts.ids import UNKNOWN_SOURCE
from contracts.topology import INTAKE, INTAKE_READER
from operations.intake.handed_in import HandedIn, handed_in, letter_subject
from publishing.documents import add_document, delete_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import translated
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.messages import NatsMessage
from runtime.bus.nats.pulling import opened_pull
from runtime.bus.port import BUG_ATTEMPTS
from runtime.concurrency.background import in_background
from runtime.errors import InvalidInput, Poison, Retryable
from runtime.parsing.files import parse, refuse_larger
from runtime.parsing.routing import OWN_PARSERS, ParsingServices

PUBLISHER = "/lightstream/intake"
"""`source` of the events that the intake publishes."""

BATCH = 8
"""Messages that are fetched at once; they are read one after the other, in order."""

PAUSE = 2.0
"""Seconds a fetch waits, and until a stop is noticed."""

AGAIN = 5.0
"""Seconds until a message is delivered again that the log did not take."""


async def _beat(messages: Sequence[Msg]) -> None:
    """Tell the server again and again that these are being read: a parser may take minutes."""
    while True:
        for message in messages:
            # Those that were read are acknowledged already.
            with suppress(NatsError):
                await message.in_progress()
        await asyncio.sleep(INTAKE_READER.ack_wait / 3)


@dataclass
class IntakeCounts:
    """What an intake has done."""

    additions: int = 0
    repetitions: int = 0
    """Documents whose very text the log had."""
    deletions: int = 0
    refusals: int = 0


@dataclass(frozen=True)
class RefusedMessage(NatsMessage):
    """A message as it is kept among the dead letters: at the subject of its document."""

    kept_at: str

    @property
    def subject(self) -> str:
        return self.kept_at


@dataclass
class Intake:
    """One reader; several share the work."""

    jetstream: JetStreamContext
    report: Callable[[str], None]
    services: ParsingServices = OWN_PARSERS
    counts: IntakeCounts = field(default_factory=IntakeCounts)

    async def read(self, stop: asyncio.Event, *, once: bool = False) -> None:
        """Read until `stop` is set; with `once` until nothing waits. Raises `Unavailable`."""
        with translated():
            async with opened_pull(self.jetstream, INTAKE.name, INTAKE_READER.name) as pull:
                while not stop.is_set():
                    messages = await pull.fetch(BATCH, PAUSE)
                    if once and not messages:
                        return
                    async with in_background(_beat(messages)):
                        for message in messages:
                            await self._handle(NatsMessage(message))

    async def _handle(self, message: NatsMessage) -> None:
        """Make a document of a message and acknowledge it. What may succeed later comes again."""
        try:
            await self._take(message)
        except (InvalidInput, Poison) as error:
            await self._refuse(message, str(error))
        except Retryable as error:
            self.report(f"waits: {error}")
            await message.nak(AGAIN)
            return
        except Exception as error:
            if message.attempt < BUG_ATTEMPTS:
                self.report(f"tries again: {type(error).__name__}")
                await message.nak(AGAIN)
                return
            await self._refuse(message, f"a bug: {type(error).__name__}: {error}")
        await message.ack()

    async def _refuse(self, message: NatsMessage, reason: str) -> None:
        kept_at = letter_subject(message.subject, message.headers, message.data)
        refused_message = RefusedMessage(message.raw, kept_at)
        await NatsLog(self.jetstream).dead_letter(refused_message, INTAKE_READER.name, reason)
        self.counts.refusals += 1
        self.report(f"refused: {reason}")

    async def _take(self, message: NatsMessage) -> None:
        file = handed_in(message.subject, message.headers, message.data)
        log = NatsLog(self.jetstream)
        if file.is_deletion:
            deletion = await delete_document(
                log, workspace=file.workspace, id=file.document_id, source=PUBLISHER
            )
            self.counts.deletions += bool(deletion and deletion.is_new)
            return
        data = await self._object(file) if file.object_store else message.data
        added_document = await add_document(
            log,
            NatsBlobs(self.jetstream),
            await self._draft(file, data),
            workspace=file.workspace,
            source=PUBLISHER,
        )
        self.counts.additions += added_document.is_new
        self.counts.repetitions += not added_document.is_new

    async def _object(self, file: HandedIn) -> bytes:
        """Return the bytes of a file in an object store. Raises InvalidInput where it is not."""
        place = f"{file.object_store}/{file.object_name}"
        try:
            with translated():
                store = await self.jetstream.object_store(file.object_store)
                info = await store.get_info(file.object_name)
                refuse_larger(info.size or 0, place)
                return (await store.get(file.object_name)).data or b""
        except NotFoundError:
            raise InvalidInput(f"{place}: the object store has no such object") from None

    async def _draft(self, file: HandedIn, data: bytes) -> DocumentDraft:
        parsed_file = await parse(data, file.parsed_name(self.services), services=self.services)
        name = file.file_name or UNKNOWN_SOURCE
        properties = {**parsed_file.metadata, "file_name": name} if file.file_name else {}
        submission = Submission(
            text=parsed_file.text,
            file_path=name,
            id=file.document_id,
            metadata={**properties, **file.metadata},
            pages=parsed_file.pages,
            chunking=parsed_file.chunking,
            warnings=parsed_file.warnings,
            figures=parsed_file.figures,
        )
        return await asyncio.to_thread(DocumentDraft.of, submission)
