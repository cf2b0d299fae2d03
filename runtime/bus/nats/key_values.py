"""Key-value buckets of JetStream: the live generations, and values that processes share for a
while.
"""

import json
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass

from nats.js import JetStreamContext
from nats.js.errors import APIError, KeyNotFoundError, KeyWrongLastSequenceError, NotFoundError
from nats.js.kv import KeyValue

from contracts.graph import PROJECTIONS, Generations, Projection
from contracts.topology import GENERATIONS_BUCKET, LIMITS_BUCKET
from runtime.bus.generations import GenerationState, ProjectionGenerations, live_generations
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.errors import ConfigurationError, Unavailable


@dataclass(frozen=True)
class NatsLiveGenerations:
    """`LiveGenerations` as one key of a JetStream key-value bucket."""

    bucket: KeyValue

    @classmethod
    async def bind(cls, jetstream: JetStreamContext) -> "NatsLiveGenerations":
        """Find the bucket. Raises ConfigurationError when `lightstream topology apply` was never
        run.
        """
        return cls(await _bucket(jetstream, GENERATIONS_BUCKET))

    async def read(self) -> tuple[ProjectionGenerations, int]:
        with translated():
            try:
                entry = await first_answer(lambda: self.bucket.get("pointers"))
            except KeyNotFoundError:
                return {projection: GenerationState() for projection in PROJECTIONS}, 0
        return self.parse(entry.value or b"{}"), entry.revision or 0

    @staticmethod
    def parse(value: bytes | str) -> ProjectionGenerations:
        """Return the generations that a value of the bucket names. Raises ValueError or TypeError
        for another.
        """
        states = json.loads(value)
        return {name: GenerationState.of(states.get(name, {})) for name in PROJECTIONS}

    async def write(self, pointers: ProjectionGenerations, revision: int) -> None:
        fields = {name: pointer.fields() for name, pointer in pointers.items()}
        value = json.dumps(fields).encode()
        try:
            with translated():
                await self.bucket.update("pointers", value, last=revision)
        except KeyWrongLastSequenceError:
            raise Unavailable("somebody else switched generations meanwhile; start again") from None

    async def live(self, *projections: Projection) -> Generations:
        pointers, _ = await self.read()
        return live_generations(pointers)


@dataclass(frozen=True)
class NatsSharedValues:
    """`SharedValues` as keys of a JetStream key-value bucket."""

    bucket: KeyValue
    jetstream: JetStreamContext
    name: str = LIMITS_BUCKET

    @classmethod
    async def bind(
        cls, jetstream: JetStreamContext, name: str = LIMITS_BUCKET
    ) -> "NatsSharedValues":
        """Find the bucket. Raises ConfigurationError when `lightstream topology apply` was never
        run.
        """
        return cls(await _bucket(jetstream, name), jetstream, name)

    async def read(self, key: str) -> tuple[bytes, int]:
        with translated(), _as_unavailable():
            try:
                entry = await first_answer(lambda: self.bucket.get(key))
            except KeyNotFoundError:
                return b"", 0
        return entry.value or b"", entry.revision or 0

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        try:
            with translated(), _as_unavailable():
                await self.bucket.update(key, value, last=revision)
        except KeyWrongLastSequenceError:
            return False
        return True

    async def keys(self) -> list[str]:
        with translated(), _as_unavailable():
            info = await self.jetstream.stream_info(
                f"KV_{self.name}", subjects_filter=f"$KV.{self.name}.>"
            )
        return sorted(
            subject.removeprefix(f"$KV.{self.name}.") for subject in info.state.subjects or {}
        )

    async def state(self) -> Hashable:
        with translated(), _as_unavailable():
            info = await first_answer(lambda: self.jetstream.stream_info(f"KV_{self.name}"))
        return info.created, info.state.last_seq, info.state.messages


async def _bucket(jetstream: JetStreamContext, name: str) -> KeyValue:
    try:
        with translated():
            return await jetstream.key_value(name)
    except NotFoundError:
        raise ConfigurationError(
            f"bucket {name} does not exist: run `lightstream topology apply`"
        ) from None


@contextmanager
def _as_unavailable() -> Generator[None]:
    """Raise Unavailable for a bucket that was removed or rejects writes: callers can do without its
    values.
    """
    try:
        yield
    except KeyWrongLastSequenceError:
        raise
    except APIError as error:
        raise Unavailable(f"a key-value bucket does not answer: {error.description}") from None
