"""Which region writes the log: this one, or another one that this one follows.

A region follows another one where its log is a mirror. Everything it knows of that one stands in
the configuration of the mirror, so no setting of a service has to agree with it.
"""

from dataclasses import dataclass

from nats.js import JetStreamContext
from nats.js.api import ExternalStream, StreamConfig, StreamSource
from nats.js.errors import NotFoundError

from contracts.partitions import LOG
from contracts.topology import WRITER_API_KEY
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.errors import ConfigurationError, ReadOnlyRegion, Unavailable

REGION_KEY = "region"
"""Key of the checkpoints' bucket under which a following region notes how far it is."""

FOLLOWER_PREFIX = "region."
"""Before the name of a region, the key under which the writing region is told the same."""


@dataclass(frozen=True)
class WritingRegion:
    """The region that a following one mirrors. `name`: the JetStream domain of its bus; `api`: the
    address of its HTTP API, empty where nobody said it.
    """

    name: str
    api: str = ""

    @property
    def refusal(self) -> str:
        """Return the sentence for whoever would write here."""
        place = f", at {self.api}" if self.api else ""
        return (
            f"this region only follows: what changes anything is for the region {self.name}{place}"
        )

    @property
    def api_prefix(self) -> str:
        """Return the prefix under which the JetStream of that region is asked from here."""
        return f"$JS.{self.name}.API"

    def source(self, stream: str) -> StreamSource:
        """Return that region's stream as the source of a mirror."""
        return StreamSource(name=stream, external=ExternalStream(api=self.api_prefix))


def writing_region(config: StreamConfig) -> WritingRegion | None:
    """Return the region that a log of this configuration follows; None where it is written here."""
    external = config.mirror.external if config.mirror else None
    if external is None:
        return None
    name = external.api.removeprefix("$JS.").removesuffix(".API")
    return WritingRegion(name, (config.metadata or {}).get(WRITER_API_KEY, ""))


async def read_writing_region(jetstream: JetStreamContext) -> WritingRegion | None:
    """Return the region that this one follows; None where the log is written here, or is not there
    yet. Raises `Unavailable`.
    """
    try:
        with translated():
            info = await first_answer(lambda: jetstream.stream_info(LOG))
    except NotFoundError:
        return None
    return writing_region(info.config)


async def refuse_following(jetstream: JetStreamContext) -> None:
    """Raises ReadOnlyRegion where this region only follows another one.

    While a log has no leader it does not say whose it is; the write is then tried again.
    """
    try:
        region = await read_writing_region(jetstream)
    except (Unavailable, ConfigurationError):
        return
    if region:
        raise ReadOnlyRegion(region.refusal)
