"""Where the stack of a data folder keeps graph and vectors: in a SQLite file each, which its
services open themselves, or in a server of its own where the data of that one are there.

The files are the record: a stack that began with a server goes on with it, and one whose folder of
a store was moved aside begins a SQLite file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from embedded.data_folder import DataFolder
from embedded.permissions import private_files
from runtime.errors import ConfigurationError, InvalidInput

SQLITE = "sqlite"


@dataclass(frozen=True)
class StoreServer:
    """The server that keeps a store where it is asked for."""

    name: str
    """How `lightstream up` is asked for it."""
    product: str
    process: str
    package: str
    """The installed package that holds it."""
    extra: str
    """The extra of ours that brings the package."""
    data: str
    """The file or folder of its data, in the folder of the store."""
    make_data: Callable[[Path], None]
    """Make them empty, so that the next start begins the server."""
    ports: tuple[str, ...]
    """What it listens for."""


@dataclass(frozen=True)
class FolderStore:
    """A store of a data folder that is a SQLite file, or a server's."""

    name: str
    """Its folder, and the projection that it holds."""
    file: str
    server: StoreServer

    def has_server(self, folder: Path) -> bool:
        """Return whether the store of that data folder is its server's."""
        return (folder / self.name / self.server.data).exists()

    def url(self, folder: Path) -> str:
        """Return the address of the SQLite file."""
        return f"sqlite://{folder / self.name / self.file}"

    def begin(self, folder: DataFolder, choice: str) -> None:
        """Have a new stack keep the store there: `sqlite`, or the name of the server.

        Raises InvalidInput for a stack with another, ConfigurationError for a server that is not
        installed.
        """
        wants_server = choice == self.server.name
        if self.has_server(folder.path) == wants_server:
            return
        if (folder.path / self.name).is_dir():
            raise InvalidInput(self._refusal(folder, wants_server))
        if not self._is_installed():
            raise ConfigurationError(f"{self._lack()}: {self._install()}")
        with private_files(), folder.lock():
            (folder.path / self.name).mkdir()
            self.server.make_data(folder.path / self.name / self.server.data)

    def describe_missing_server(self, folder: DataFolder) -> str:
        """Return a sentence, with the ways out, where the store is a server's that is not
        installed; empty where nothing is missing.
        """
        if not self.has_server(folder.path) or self._is_installed():
            return ""
        return (
            f"{self._lack()}, and it has the {self.name} of {folder.path}: {self._install()}, "
            f"or {self._move(folder)}"
        )

    def _refusal(self, folder: DataFolder, wants_server: bool) -> str:
        product = self.server.product
        return (
            f"this stack has its {self.name} in a SQLite file and keeps it there: choose a new "
            f"data folder for {product}"
            if wants_server
            else f"this stack has its {self.name} in {product}: {self._move(folder)}"
        )

    def _is_installed(self) -> bool:
        return find_spec(self.server.package) is not None

    def _lack(self) -> str:
        return f"{self.server.product} is not installed in this Python environment"

    def _install(self) -> str:
        return f"`pip install 'lightstream-rag[{self.server.extra}]'` brings it"

    def _move(self, folder: DataFolder) -> str:
        return (
            f"while the stack is down, `lightstream rebuild {self.name} --fresh"
            f"{folder.command_option}` moves it into a SQLite file, from the log"
        )


GRAPH = FolderStore(
    name="graph",
    file="graph.sqlite",
    server=StoreServer(
        name="arcadedb",
        product="ArcadeDB",
        process="arcadedb",
        package="arcadedb_embedded",
        extra="arcadedb",
        data="data",
        make_data=Path.mkdir,
        ports=("graph", "graph-http"),
    ),
)
VECTORS = FolderStore(
    name="vectors",
    file="vectors.sqlite",
    server=StoreServer(
        name="milvus",
        product="Milvus Lite",
        process="milvus-lite",
        package="milvus_lite",
        extra="milvus-lite",
        data="vectors.db",
        make_data=Path.touch,
        ports=("vectors",),
    ),
)
STORES = (GRAPH, VECTORS)


def servers_of(folder: Path) -> tuple[FolderStore, ...]:
    """Return the stores of the data folder that are a server's."""
    return tuple(store for store in STORES if store.has_server(folder))
