"""Whether the log, with all of its streams, is what it was seen to be.

Streams are compared one by one. The stores of a projection have one number for the whole log: how
many sequences of all streams it holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nats.js import JetStreamContext

from contracts.partitions import number_at
from runtime.bus.nats.log_integrity import (
    EarlierLook,
    Evidence,
    LogState,
    beyond,
    collect_evidence,
    observe,
)
from runtime.bus.nats.log_streams import LogStreams, log_streams
from runtime.bus.port import SharedValues
from runtime.stores.port import Checkpoint


def whole(states: Sequence[LogState]) -> LogState:
    """Return the state of a log whose streams are in these states: with one stream, its own."""
    if len(states) == 1:
        return states[0]
    return LogState(
        ",".join(state.created_at for state in states),
        sum(number_at(state.last_sequence) for state in states),
        sum(state.missing_count for state in states),
    )


async def observe_log(jetstream: JetStreamContext) -> LogState:
    """Ask the server about the whole log. Raises `Unavailable` when it does not answer."""
    streams = await log_streams(jetstream)
    return whole([await observe(jetstream, stream) for stream in streams.names])


@dataclass
class LogEvidence:
    """What the bus and the stores say of the log: by stream, and the `checkpoints` of stores by
    name.
    """

    streams: Mapping[str, Evidence]
    checkpoints: list[tuple[str, Checkpoint]] = field(default_factory=list[tuple[str, Checkpoint]])

    @property
    def start(self) -> LogState:
        """Return the state of the log when the evidence began."""
        return whole([evidence.start for evidence in self.streams.values()])

    @property
    def accepted(self) -> int:
        """Return how many losses an operator has accepted."""
        return max(evidence.accepted for evidence in self.streams.values())

    def handled(self, durables: Iterable[str]) -> int:
        """Return how many sequences, of all streams, each of these durables has handled."""
        names = tuple(durables)
        return sum(
            number_at(min(evidence.floors[name] for name in names))
            for evidence in self.streams.values()
        )

    def add_claims(self, claimant: str, sequences: Iterable[int]) -> None:
        """Add sequences that somebody knows."""
        streams = LogStreams(len(self.streams))
        for sequence in sequences:
            self.streams[streams.holding(sequence)].claims.append((claimant, sequence))

    async def damage(
        self, jetstream: JetStreamContext, values: SharedValues, *, hashes: bool
    ) -> str:
        """Return how the log contradicts the evidence; empty when it does not."""
        for stream, evidence in self.streams.items():
            if reason := await evidence.damage(jetstream, values, hashes=hashes):
                return reason if len(self.streams) == 1 else f"{stream}: {reason}"
        if self._contradiction(self.start):
            # The log may have grown since the evidence began.
            ends = [await observe(jetstream, stream) for stream in self.streams]
            return self._contradiction(whole(ends))
        return ""

    def _contradiction(self, state: LogState) -> str:
        for store, checkpoint in self.checkpoints:
            if checkpoint.log != state.created_at:
                return f"{store} was filled from another log, created at {checkpoint.log}"
            if reason := beyond(state, store, checkpoint.sequence):
                return reason
        return ""


async def collect_log_evidence(
    jetstream: JetStreamContext,
    values: SharedValues,
    durables: Sequence[str],
    earlier_looks: Mapping[str, EarlierLook],
) -> LogEvidence:
    """Read the evidence about each stream of the log, beside what is known of it. Raises
    `Unavailable`.
    """
    streams = await log_streams(jetstream)
    return LogEvidence(
        {
            stream: await collect_evidence(
                jetstream, values, stream, durables, earlier_looks.get(stream, EarlierLook())
            )
            for stream in streams.names
        }
    )
