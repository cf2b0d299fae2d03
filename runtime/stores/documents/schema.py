"""The schema version of the stores: `prepare` records it, and older programs refuse a newer one.

One row of the document store speaks for all three stores. It is raised when older code would misread tables, properties
or collections; what is new and optional does not raise it.
"""

from contracts.graph import Partition
from runtime.errors import ConfigurationError
from runtime.stores.documents.port import Rows, Table

VERSION = 3
"""2: the lists of the graph are strings of JSON. A graph of version 1 is made anew with `lightstream rebuild graph`.
3: vectors of entities and relations have other ids. Older ones can be searched until `lightstream rebuild vectors`."""

TABLE = Table("schema", Partition("lightstream", 0))
KEY = "stores"


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
    if value < VERSION:
        await rows.put_newer(TABLE, {KEY: {"version": VERSION}}, "version")
