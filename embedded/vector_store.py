"""Where the stack of a data folder keeps its vectors: in a SQLite file, or in Milvus Lite where the
file of that one is there.

The file is the record: a stack that began with Milvus Lite goes on with it, and one whose folder of
vectors was moved aside begins a SQLite file.
"""

from pathlib import Path
from typing import Literal

from embedded.data_folder import DataFolder
from embedded.servers import milvus_lite
from runtime.errors import InvalidInput

VectorStoreName = Literal["sqlite", "milvus"]

FOLDER = "vectors"
FILE = "vectors.sqlite"


def uses_milvus_lite(folder: Path) -> bool:
    """Return whether the vectors of the data folder are in Milvus Lite."""
    return (folder / FOLDER / milvus_lite.DATABASE).exists()


def vectors_url(folder: Path, port: int) -> str:
    """Return the address of the vectors; `port`: that of Milvus Lite, where it is used."""
    if uses_milvus_lite(folder):
        return milvus_lite.uri(port)
    return f"sqlite://{folder / FOLDER / FILE}"


def choose_vector_store(folder: DataFolder, name: VectorStoreName) -> None:
    """Have a new stack keep its vectors there. Raises InvalidInput for a stack with another."""
    if uses_milvus_lite(folder.path) == (name == "milvus"):
        return
    if (folder.path / FOLDER).is_dir():
        raise InvalidInput(
            "the vectors of this stack are in Milvus Lite: `lightstream rebuild vectors --fresh` "
            "moves them into a SQLite file while the stack is down"
            if name == "sqlite"
            else "the vectors of this stack are in a SQLite file and stay there: choose a new data "
            "folder for Milvus Lite"
        )
    with folder.lock():
        (folder.path / FOLDER).mkdir(mode=0o700)
        milvus_lite.make_database(folder.path / FOLDER / milvus_lite.DATABASE)
