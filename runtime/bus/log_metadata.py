"""What the metadata of the log say: its version, its partitions, whether its documents share
subjects, and which workspaces were moved.
"""

from collections.abc import Mapping

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from contracts.partitions import COUNT_KEY, LOG, LogPosition, stream_name
from contracts.placements import PLACEMENTS_KEY, Placement, placements_in, placements_text
from contracts.topology import (
    PARTITIONED,
    PLACED_VERSION,
    SHARED_KEY,
    SHARED_VERSION,
    VERSION,
    VERSION_KEY,
    WRITER_API_KEY,
)
from runtime.bus.nats.connection import translated
from runtime.bus.nats.log_streams import forget_streams, has_log
from runtime.errors import ConfigurationError


def log_metadata(partitions: int = 1, shared_from: str = "") -> dict[str, str]:
    """Return the metadata of a log. `shared_from`: the place from which its documents share
    subjects, empty where they do not.
    """
    version = SHARED_VERSION if shared_from else VERSION
    metadata = {SHARED_KEY: shared_from} if shared_from else {}
    if partitions == 1:
        return {VERSION_KEY: str(version), **metadata}
    return {VERSION_KEY: str(PARTITIONED + version), COUNT_KEY: str(partitions), **metadata}


def with_placements(metadata: Mapping[str, str], text: str) -> dict[str, str]:
    """Return the metadata of a log of which workspaces were moved. `text`: their placements."""
    version = str(PARTITIONED + PLACED_VERSION)
    return {**metadata, VERSION_KEY: version, PLACEMENTS_KEY: text} if text else {**metadata}


def our_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """Return what is ours: the server has metadata of its own beside it."""
    own_keys = (VERSION_KEY, COUNT_KEY, SHARED_KEY, PLACEMENTS_KEY, WRITER_API_KEY)
    return {key: value for key, value in (metadata or {}).items() if key in own_keys}


async def read_placements(jetstream: JetStreamContext) -> dict[str, Placement]:
    """Return which workspaces were moved, by their tokens. Raises `Unavailable`."""
    with translated():
        metadata = (await jetstream.stream_info(LOG)).config.metadata
    return placements_in((metadata or {}).get(PLACEMENTS_KEY, ""))


async def write_placements(
    jetstream: JetStreamContext, placements: Mapping[str, Placement]
) -> None:
    """Note which workspaces were moved, in place of what was noted before. Raises `Unavailable`,
    and the server's APIError.
    """
    with translated():
        config = (await jetstream.stream_info(LOG)).config
        metadata = with_placements(our_metadata(config.metadata), placements_text(placements))
        await jetstream.update_stream(config.evolve(metadata=metadata))
    forget_streams(jetstream)


async def refuse_newer(jetstream: JetStreamContext) -> None:
    """Raises ConfigurationError where a newer program has set up the bus. Changes nothing."""
    try:
        metadata = our_metadata((await jetstream.stream_info(LOG)).config.metadata)
    except NotFoundError:
        return
    version = metadata.get(VERSION_KEY, "")
    own_version = PARTITIONED + PLACED_VERSION if COUNT_KEY in metadata else SHARED_VERSION
    if version.isdecimal() and int(version) > own_version:
        raise ConfigurationError(
            f"the streams and consumers of the bus have version {version}, "
            f"this program knows {own_version}: run the newer program, or a bus of its own"
        )


async def sharing_place(
    jetstream: JetStreamContext, partitions: int, *, share_subjects: bool
) -> str:
    """Return the place from which documents share subjects where the log does not say it yet: the
    beginning of a new one, and the end of one that is there if it is to. Empty: they do not.
    """
    if not await has_log(jetstream):
        return LogPosition.start(partitions).text
    if not share_subjects:
        return ""
    states = [(await jetstream.stream_info(stream_name(n))).state for n in range(partitions)]
    return LogPosition.start(partitions).behind(state.last_seq for state in states).text
