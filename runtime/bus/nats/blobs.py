"""Long texts beside the log on JetStream: each in parts, under its hash."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import uuid4

import structlog
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from contracts import subjects
from contracts.values import BlobRef
from runtime.bus.encoded_text import BLOB_PART, EncodedText
from runtime.bus.nats.connection import REQUEST_TIMEOUT, SILENT, translated
from runtime.bus.write_status import WriteStatus
from runtime.errors import Poison, Unavailable

logger = structlog.get_logger(__name__)

READS = 10
REPLICA_LAG = 0.5
"""Attempts to read a part that a replica may not have yet, and the seconds between them."""

PUTS = 4
"""Attempts to write a part when wrong bytes must be removed first, or a replica lags behind."""


class Occupied(Unavailable):
    """Other bytes stand under the name of a text, and this process may not remove them."""


@dataclass(frozen=True)
class NatsBlobs:
    """`Blobs` on the stream KB_BLOBS: one immutable message per part."""

    jetstream: JetStreamContext
    writes: WriteStatus = field(default_factory=WriteStatus)

    async def put(self, text: EncodedText, workspace: str) -> BlobRef:
        ref = text.reference(subjects.blob_place(workspace, text.sha256))
        try:
            await self.put_back(ref.key, text.data)
        except Occupied:
            logger.warning(
                "other bytes stand under the name of a text, which gets another", place=ref.key
            )
            ref = ref.model_copy(update={"place": f"{ref.place}-{uuid4().hex}"})
            await self.put_back(ref.key, text.data)
        return ref

    async def put_back(self, key: str, data: bytes) -> None:
        """Store the bytes under the key of a reference. Raises Unavailable, `Occupied` where other
        bytes stand.
        """
        parts = [data[start : start + BLOB_PART] for start in range(0, len(data), BLOB_PART)] or [
            b""
        ]
        for start in range(0, len(parts), 4):
            window = enumerate(parts[start : start + 4], start)
            await asyncio.gather(
                *(self._put(subjects.blob(key, number), part) for number, part in window)
            )

    async def _put(self, subject: str, part: bytes) -> None:
        for _ in range(PUTS):
            if await self._write_part(subject, part) or await self._has_part(subject, part):
                return
        raise Occupied("somebody else keeps writing other bytes under the name of this text")

    async def _write_part(self, subject: str, part: bytes) -> bool:
        """Write the part; return False when the subject has one already."""
        try:
            await self.jetstream.publish(subject, part, stream="KB_BLOBS", timeout=REQUEST_TIMEOUT)
        except APIError as error:
            self.writes.confirmed("KB_BLOBS")
            # "Maximum messages per subject"
            if error.err_code == 10077 and "per subject" in (error.description or ""):
                return False
            raise Unavailable(
                f"KB_BLOBS does not take the text: {error.description}", retry_after=30.0
            ) from None
        except SILENT as error:
            self.writes.silent("KB_BLOBS")
            raise Unavailable("KB_BLOBS did not confirm") from error
        self.writes.confirmed("KB_BLOBS")
        return True

    async def _has_part(self, subject: str, part: bytes) -> bool:
        """Return whether the subject has this very part. Other bytes are removed: they make the
        text unreadable.

        Raises `Occupied` where this process may not remove them.
        """
        try:
            with translated():
                message = await self.jetstream.get_last_msg("KB_BLOBS", subject, direct=True)
        except NotFoundError:
            return False
        if message.data == part:
            return True
        logger.warning(
            "other bytes stood under the name of a text and are replaced", subject=subject
        )
        try:
            # By its sequence, so that a part which another process has corrected meanwhile is not
            # removed.
            await self.jetstream.delete_msg("KB_BLOBS", message.seq or 0)
        except (
            *SILENT,
            ServiceUnavailableError,
        ):  # nobody answers a call that this user is not granted
            raise Occupied(
                f"KB_BLOBS holds other bytes under the name of this text ({subject}) "
                "and this process may not remove them: add the document with `lightstream add` and "
                "an account that may, or purge that subject"
            ) from None
        except APIError:  # gone already
            return False
        return False

    async def get(self, ref: BlobRef) -> str:
        return b"".join(await self.parts(ref)).decode("utf-8", "replace")

    async def parts(self, ref: BlobRef) -> Sequence[bytes]:
        parts: list[bytes] = []
        digest = hashlib.sha256()
        for number in range(ref.parts):
            parts.append(await self._part(ref, number))
            digest.update(parts[-1])
        if digest.hexdigest() != ref.sha256:
            raise Poison(f"blob {ref.sha256} does not have the hash of its name")
        return parts

    async def _part(self, ref: BlobRef, number: int) -> bytes:
        """Return a part. Any replica answers, and one that lags behind lacks what was confirmed: it
        is asked again.
        """
        for attempts_left in reversed(range(READS)):
            try:
                with translated():
                    subject = subjects.blob(ref.key, number)
                    message = await self.jetstream.get_last_msg("KB_BLOBS", subject, direct=True)
                return message.data or b""
            except NotFoundError:
                if not attempts_left or not await self._is_replicated():
                    break
                await asyncio.sleep(REPLICA_LAG)
        raise Poison(f"part {number} of blob {ref.sha256} is not in KB_BLOBS")

    async def _is_replicated(self) -> bool:
        with translated():
            return (await self.jetstream.stream_info("KB_BLOBS")).config.num_replicas != 1
