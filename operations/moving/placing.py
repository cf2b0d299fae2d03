"""Which stores the stack of a data folder uses: those in the folder, or servers elsewhere that a
move has filled.
"""

import asyncio
from pathlib import Path

from embedded.data_folder import DataFolder
from operations.digest import Stores
from operations.moving.destination import read_stores, require_empty, store_values
from runtime.errors import InvalidInput
from runtime.settings import Settings
from runtime.stores.open import open_documents, open_graph, open_vectors

OWN = "own"
"""Names the stores in the folder."""


def use_stores(folder: DataFolder, place: str) -> None:
    """Have the stack of the folder use, from its next start on, the stores that a file of variables
    names, or its own. A stack that is new begins with them, where they are empty.

    Raises `Busy` while it runs, `Unavailable` for a store of a new stack that does not answer,
    InvalidInput for one that holds data, for a file that does not name all three, and for the own
    stores of no stack.
    """
    is_new = not (folder.path / "bus").is_dir()
    if place == OWN and is_new:
        raise InvalidInput(f"there is no stack in {folder.path}")
    stores: dict[str, str] = {}
    if place != OWN:
        settings = read_stores(_file(place))
        if is_new:
            asyncio.run(_require_empty(settings))
        stores = store_values(settings)
    with folder.lock():
        state = folder.read()
        state.stores = stores
        folder.write(state)


async def _require_empty(settings: Settings) -> None:
    """Raise InvalidInput for stores that hold something: it is of another log."""
    stores = Stores(
        open_documents(settings),
        open_graph(settings),
        # Collections of any model count.
        open_vectors(settings, model="none", dimension=1),
    )
    try:
        await stores.rows.ping()
        if not await stores.rows.missing():
            await require_empty(stores)
    finally:
        await asyncio.gather(stores.rows.close(), stores.graph.close(), stores.vectors.close())


def _file(file_name: str) -> Path:
    file = Path(file_name).expanduser()
    if not file.is_file():
        raise InvalidInput(f"there is no file {file_name}")
    return file
