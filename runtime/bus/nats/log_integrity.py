"""Check a stream of the log for damage: one that is shorter, another one, or holds another message
than it once held.

A single server repairs a damaged file by cutting it off, says nothing, and gives the sequences that
it lost to new events. So what the log was seen to be is kept in a mark, on the bus and outside of
it, and compared.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import partial

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from contracts.partitions import LOG, number_at
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.bus.port import SharedValues
from runtime.errors import Unavailable
from runtime.stores.port import LogMark

MARK_KEY = "log"

ERASURES_KEY = "erasures"
"""How many sequences may hold no message, because an erasure removes what stood there."""

REMEDY = (
    "nothing is written to it now; restore what is lost with `lightstream repair`, "
    "or accept the loss with `lightstream rebuild all --accept-loss`"
)


@dataclass(frozen=True)
class LogState:
    """A stream of the log as its server describes it. `missing_count`: sequences up to
    `last_sequence` that hold no message.
    """

    created_at: str
    last_sequence: int
    missing_count: int


def key_of(name: str, stream: str) -> str:
    """Return the key under which something is noted of a stream of the log."""
    return name + stream.removeprefix(LOG).replace("_", ".")


async def observe(jetstream: JetStreamContext, stream: str) -> LogState:
    """Ask the server. Raises `Unavailable` when it does not answer."""
    with translated():
        info = await first_answer(lambda: jetstream.stream_info(stream))
    created_at = info.created.isoformat() if info.created else ""
    # A mirror has the holes of the log it follows, which come without a note of ours.
    missing_count = (
        0 if info.config.mirror else number_at(info.state.last_seq) - info.state.messages
    )
    return LogState(created_at, info.state.last_seq, missing_count)


async def mark_of(
    jetstream: JetStreamContext, stream: str, state: LogState, accepted_count: int
) -> LogMark:
    """Return the mark of a stream in this state."""
    return LogMark(
        state.created_at,
        state.last_sequence,
        await hash_at(jetstream, stream, state.last_sequence),
        state.missing_count,
        accepted_count,
    )


async def hash_at(jetstream: JetStreamContext, stream: str, sequence: int) -> str:
    """Return the SHA-256 of the message there and its subject; empty when there is none: it may be
    erased.
    """
    if not number_at(sequence):
        return ""
    try:
        with translated():
            message = await first_answer(
                lambda: jetstream.get_msg(stream, seq=sequence, direct=False)
            )
    except NotFoundError:
        return ""
    return hashlib.sha256(
        (message.subject or "").encode() + b"\n" + (message.data or b"")
    ).hexdigest()


def difference(state: LogState, log_mark: LogMark, erased_count: int = 0) -> str:
    """Return how the log contradicts a mark of it; empty when the log may have grown from that
    mark.

    `erased_count`: sequences that may hold no message because of erasures.
    """
    if state.created_at != log_mark.created:
        return (
            f"its stream was created at {state.created_at}, that of the log before at "
            f"{log_mark.created}: it is another log"
        )
    if state.last_sequence < log_mark.sequence:
        return _ends(state, log_mark.sequence)
    if state.missing_count > max(log_mark.missing, erased_count):
        return (
            f"{state.missing_count - max(log_mark.missing, erased_count)} of its messages are gone"
        )
    return ""


async def allow_erasure(
    jetstream: JetStreamContext, values: SharedValues, stream: str, messages: int
) -> None:
    """Note that this many messages of a stream are about to be removed on purpose, so that nobody
    takes them for lost.

    Raises `Unavailable`.
    """
    key = key_of(ERASURES_KEY, stream)
    allowed_count, revision = await values.read(key)
    missing_count = (await observe(jetstream, stream)).missing_count + messages
    if missing_count > int(allowed_count or 0) and not await values.write(
        key, str(missing_count).encode(), revision
    ):
        raise Unavailable("another erasure began at the same moment; start again")


async def allow_holes(jetstream: JetStreamContext, values: SharedValues, stream: str) -> None:
    """Note that a stream may have the holes it has now: a mirror has become the log."""
    with translated():
        state = (await jetstream.stream_info(stream)).state
    key = key_of(ERASURES_KEY, stream)
    _, revision = await values.read(key)
    await values.write(key, str(number_at(state.last_seq) - state.messages).encode(), revision)


async def read_noted_mark(values: SharedValues, stream: str) -> tuple[LogMark | None, int]:
    """Return the mark of a stream that the bus keeps, and the revision to replace it."""
    mark_json, revision = await values.read(key_of(MARK_KEY, stream))
    return (LogMark(**json.loads(mark_json)) if mark_json else None), revision


async def note_mark(values: SharedValues, stream: str, log_mark: LogMark, revision: int) -> bool:
    """Write the mark of a stream to the bus. Returns False when another process was faster."""
    return await values.write(
        key_of(MARK_KEY, stream), json.dumps(asdict(log_mark)).encode(), revision
    )


@dataclass
class Evidence:
    """What the bus and the stores say of one stream of the log. All of it was read after `start`
    and before the stream is judged.

    `log_marks` are those made since the last accepted loss, `reached_sequence` is the greatest
    sequence this process knows of, `floors` says for each durable up to where it has handled
    everything, and `claims` what else names a sequence.
    """

    stream: str
    start: LogState
    reached_sequence: int
    log_marks: list[LogMark]
    revision: int
    floors: dict[str, int] = field(default_factory=dict[str, int])
    claims: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    @property
    def accepted(self) -> int:
        """Return how many losses an operator has accepted."""
        return max((log_mark.accepted for log_mark in self.log_marks), default=0)

    async def damage(
        self, jetstream: JetStreamContext, values: SharedValues, *, hashes: bool
    ) -> str:
        """Return how the log contradicts the evidence; empty when it does not."""
        if self._contradiction(self.start, 0):
            # The log may have grown, or lost what an erasure removes, since the evidence began.
            end = await observe(jetstream, self.stream)
            # Read after the end: whoever erases notes it before.
            erased_count, _ = await values.read(key_of(ERASURES_KEY, self.stream))
            if reason := self._contradiction(end, int(erased_count or 0)):
                return reason
        for log_mark in self.log_marks if hashes else ():
            if (
                log_mark.sha256
                and (now := await hash_at(jetstream, self.stream, log_mark.sequence))
                and now != log_mark.sha256
            ):
                return f"another message stands at sequence {log_mark.sequence} than before"
        return ""

    def _contradiction(self, state: LogState, erased_count: int) -> str:
        """Return how the log in this state contradicts the evidence; empty when it does not."""
        reasons = [difference(state, log_mark, erased_count) for log_mark in self.log_marks]
        if state.last_sequence < self.reached_sequence:
            reasons.append(_ends(state, self.reached_sequence))
        reasons += [beyond(state, claimant, sequence) for claimant, sequence in self.claims]
        return next(filter(None, reasons), "")

    def is_settled(self, durable: str, state: LogState) -> bool:
        """Return whether the durable had handled everything of a log in this state."""
        return self.start == state and self.floors.get(durable) == state.last_sequence


@dataclass(frozen=True)
class EarlierLook:
    """What a process knows of a stream without asking the bus: the greatest sequence that it saw,
    the mark that is kept elsewhere, and the `evidence` of its last look.
    """

    reached_sequence: int = 0
    stored_mark: LogMark | None = None
    evidence: Evidence | None = None


async def collect_evidence(
    jetstream: JetStreamContext,
    values: SharedValues,
    stream: str,
    durables: Iterable[str],
    earlier_look: EarlierLook,
) -> Evidence:
    """Read the evidence about a stream on the bus, beside what is known. Raises `Unavailable`.

    A durable that had handled all of this stream by the known evidence is not asked again.
    """
    start = await observe(jetstream, stream)
    noted_mark, revision = await read_noted_mark(values, stream)
    known_marks = [log_mark for log_mark in (noted_mark, earlier_look.stored_mark) if log_mark]
    newest_acceptance = max((log_mark.accepted for log_mark in known_marks), default=0)
    evidence = Evidence(
        stream,
        start,
        earlier_look.reached_sequence,
        [log_mark for log_mark in known_marks if log_mark.accepted == newest_acceptance],
        revision,
    )
    for name in durables:
        if earlier_look.evidence and earlier_look.evidence.is_settled(name, start):
            evidence.floors[name] = start.last_sequence
        else:
            await _add_durable(jetstream, evidence, name)
    return evidence


async def _add_durable(jetstream: JetStreamContext, evidence: Evidence, name: str) -> None:
    """Ask a durable how far it is. Raises `Unavailable`."""
    with translated():
        info = await first_answer(partial(jetstream.consumer_info, evidence.stream, name))
    floor = info.ack_floor.stream_seq if info.ack_floor else 0
    evidence.claims.append(
        (f"durable {name}", max(floor, info.delivered.stream_seq if info.delivered else 0))
    )
    is_done = not (info.num_pending or info.num_ack_pending)
    evidence.floors[name] = evidence.start.last_sequence if is_done else floor


def beyond(end: LogState, claimant: str, sequence: int) -> str:
    """Return that somebody knows a sequence behind the end; empty where it is not."""
    return (
        f"{claimant} knows sequence {sequence}, and the log ends at {end.last_sequence}"
        if sequence > end.last_sequence
        else ""
    )


def _ends(end: LogState, reached_sequence: int) -> str:
    return f"it ends at sequence {end.last_sequence}, and had reached {reached_sequence}"
