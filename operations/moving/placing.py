"""Which stores the stack of a data folder uses: those in the folder, or servers elsewhere that a
move has filled.
"""

from pathlib import Path

from embedded.data_folder import DataFolder
from operations.moving.destination import read_stores
from runtime.errors import InvalidInput

OWN = "own"
"""Names the stores in the folder."""


def use_stores(folder: DataFolder, place: str) -> None:
    """Have the stack of the folder use, from its next start on, the stores that a file of variables
    names, or its own.

    Raises `Busy` while it runs, InvalidInput for a folder without a stack and for a file that does
    not name all three.
    """
    stores = {} if place == OWN else read_stores(_file(place))
    if not (folder.path / "bus").is_dir():
        raise InvalidInput(
            f"there is no stack in {folder.path}: start one, and fill the others by "
            "`lightstream rebuild all --to`"
        )
    with folder.lock():
        state = folder.read()
        state.stores = stores
        folder.write(state)


def _file(file_name: str) -> Path:
    file = Path(file_name).expanduser()
    if not file.is_file():
        raise InvalidInput(f"there is no file {file_name}")
    return file
