"""The place of a stack among regions: its name, who may follow it, and whom it follows itself.

The buses of two regions are linked as leaf nodes. What crosses the link is asked for by one of
them: nothing that is published in one region reaches the other by itself.
"""

import re
from dataclasses import asdict, dataclass
from urllib.parse import parse_qs, urlsplit

from embedded.data_folder import DataFolder, StackState, new_password
from embedded.servers.nats import BusLink
from runtime.errors import InvalidInput

NAME_PATTERN = re.compile(r"[a-z][a-z0-9-]{0,30}")

USER = "region"


@dataclass(frozen=True)
class RegionLink:
    """How a bus is linked. `name`: of this region; `secret`: what other regions show it; `writer`:
    the address of the one it follows, as `region_address` has it, empty where it follows none.
    """

    name: str = ""
    secret: str = ""
    writer: str = ""

    @classmethod
    def of(cls, state: StackState) -> "RegionLink":
        """Return the link of a stack; one without a name is linked to nobody."""
        return cls(**state.region)

    @property
    def remote(self) -> str:
        """Return where the bus of the followed region takes links in."""
        parts = urlsplit(self.writer)
        return f"nats-leaf://{parts.netloc}" if self.writer else ""

    @property
    def writer_name(self) -> str:
        """Return the name of the followed region, empty without one."""
        return urlsplit(self.writer).path.strip("/")

    @property
    def writer_partitions(self) -> int:
        """Return how many partitions the log of the followed region has."""
        return int(parse_qs(urlsplit(self.writer).query).get("partitions", ["1"])[0])

    @property
    def writer_api(self) -> str:
        """Return the address of its HTTP API, empty where nobody said it."""
        return parse_qs(urlsplit(self.writer).query).get("api", [""])[0]


def region_address(state: StackState) -> str:
    """Return what another stack is told to follow this one. It has a password. Raises InvalidInput
    for a stack that was started without a name for its region.
    """
    link = RegionLink.of(state)
    if not link.name:
        raise InvalidInput("this stack has no region's name: start it with `up --region NAME`")
    place = f"{USER}:{link.secret}@127.0.0.1:{state.ports['regions']}"
    count = f"&partitions={state.partitions}" if state.partitions > 1 else ""
    return f"nats-leaf://{place}/{link.name}?api={state.api}{count}"


def refuse_other_count(link: RegionLink, partitions: int | None) -> None:
    """Raises InvalidInput where somebody wants another number of partitions than the log of the
    followed region has.
    """
    if link.writer and partitions not in (None, link.writer_partitions):
        count = link.writer_partitions
        raise InvalidInput(
            f"the log of the region {link.writer_name} has {count} partitions, not {partitions}: a "
            f"region that follows it has as many, so leave --partitions out or give {count}"
        )


def set_region(folder: DataFolder, name: str, writer: str, partitions: int | None = None) -> None:
    """Have the next start use this name and follow that region; an empty value keeps what is set.
    `partitions`: how many the caller wants; a region that follows has those of the followed one.

    Raises InvalidInput for a name or an address of no use, for another number of partitions, and
    for a stack that runs.
    """
    if name and not NAME_PATTERN.fullmatch(name):
        raise InvalidInput(f"--region {name!r}: small letters, digits and hyphens")
    if folder.is_running():
        raise InvalidInput(f"a stack runs already: `lightstream down{folder.command_option}` first")
    state = folder.read()
    before = RegionLink.of(state)
    if writer and (folder.path / "bus").is_dir() and writer != before.writer:
        raise InvalidInput("only a new data folder can follow another region: choose another one")
    link = RegionLink(
        name or before.name or "second", before.secret or new_password(), writer or before.writer
    )
    if link.writer and not NAME_PATTERN.fullmatch(link.writer_name):
        raise InvalidInput("--follow: give what `lightstream region address` prints there")
    if link.writer_name == link.name:
        raise InvalidInput(f"both regions would be {link.name}: give another one by --region")
    refuse_other_count(link, partitions)
    if link.writer and not (folder.path / "bus").is_dir():
        state.partitions = link.writer_partitions
    state.region = asdict(link)
    folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.write(state)


def bus_link(link: RegionLink, port: int) -> BusLink | None:
    """Return how the bus is to be linked; None without a name for the region."""
    return BusLink(link.name, port, link.secret, link.remote) if link.name else None
