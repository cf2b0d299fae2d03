"""The schema version of the stores: `prepare` records it, and older programs refuse a newer one.

One row of the document store speaks for all three stores. It is raised when older code would misread tables, properties
or collections; what is new and optional does not raise it.
"""

from contracts.graph import Partition
from runtime.errors import ConfigurationError
from runtime.stores.documents.port import Rows, Table

VERSION = 5
"""2: the lists of the graph are strings of JSON. A graph of version 1 is made anew with `lightstream rebuild graph`.
3: vectors of entities and relations have other ids. Older ones can be searched until `lightstream rebuild vectors`.
4: contributions of chunks stand in other tables, which are filled by `lightstream rebuild graph`.
5: new embeddings in the cache have half precision. Older ones stay, and are read."""

TABLE = Table("schema", Partition("lightstream", 0))
CHECKPOINTS = Table("checkpoints", Partition("lightstream", 0))
KEY = "stores"

_OTHER_CONTRIBUTIONS = 4


async def recorded(rows: Rows) -> int:
    """Return the version that was recorded, 0 when none was."""
    row = (await rows.get(TABLE, [KEY])).get(KEY)
    return int(row["version"]) if row else 0


async def enter(rows: Rows) -> None:
    """Record our version, unless it is there. Raises ConfigurationError when newer code has prepared the stores."""
    value = await recorded(rows)
    if value > VERSION:
        raise ConfigurationError(
            f"the stores have schema {value}, this program knows {VERSION}: run the newer program, or stores of its own"
        )
    if 0 < value < _OTHER_CONTRIBUTIONS:
        # The graph then counts as lost until it is rebuilt, and nothing is answered from one that cannot be updated.
        await rows.delete(CHECKPOINTS, [key for key, _ in await rows.scan(CHECKPOINTS) if key.startswith("graph.")])
    if value < VERSION:
        await rows.put_newer(TABLE, {KEY: {"version": VERSION}}, "version")
