"""Opens any side by its name: our stacks, and LightRAG's server where an environment that has it is
given.
"""

import argparse
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from benchmarks.measuring.model import Model
from benchmarks.measuring.peer import AS_IT_IS, ONE_CLIENT, lightrag
from benchmarks.measuring.processes import Usages
from benchmarks.measuring.sides import STORES
from benchmarks.yardstick.documents import Document

PEERS = (AS_IT_IS, ONE_CLIENT)


def add_sides(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which sides are measured, and how ours are run."""
    parser.add_argument("--stores", nargs="+", choices=STORES, default=["embedded"])
    parser.add_argument(
        "--peer-python",
        type=absolute,
        help="Python of an environment with lightrag-hku[api]==1.5.7",
    )
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument(
        "--profile", metavar="SERVICE", help="sample one of our processes with py-spy"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", type=setting)


def absolute(path: str) -> Path:
    """A path from the root, for a process in another folder. Links stay: that of a virtual
    environment's Python says which one it is.
    """
    return Path(path).absolute()


def given_sides(given: argparse.Namespace) -> list[str]:
    """The sides that those options ask for."""
    return [*(given.peers if given.peer_python else ()), *given.stores]


def setting(text: str) -> tuple[str, str]:
    """A setting of ours and its value. Raises ArgumentTypeError when there is no value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"not NAME=VALUE: {text}")
    return name, value


class Opened(Protocol):
    """A running side."""

    @property
    def api(self) -> str:
        """Its address."""
        ...

    @property
    def folder(self) -> Path:
        """Where its files are."""
        ...

    def usages(self) -> Usages:
        """What each of its processes used until now, and this one."""
        ...

    def index(self, documents: Sequence[Document]) -> tuple[float, float]:
        """Add documents: seconds until all are processed, and until nobody has anything left to
        do.
        """
        ...

    def pids(self) -> dict[str, int]:
        """Process ids by name; each stands for itself and its descendants."""
        ...


@contextmanager
def opened(
    side: str,
    model: Model,
    *,
    peer_python: Path | None = None,
    keep: Path | None = None,
    **env: str,
) -> Generator[Opened]:
    """A side of that name with this model, in `keep`, which stays, or in a folder that is removed
    in the end.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = (keep or Path(scratch)).resolve() / "data"
        folder.parent.mkdir(parents=True, exist_ok=True)
        if side in PEERS:
            assert peer_python, "a peer needs the Python of an environment with lightrag-hku==1.5.7"
            with lightrag(peer_python, model, folder, one_client=side == ONE_CLIENT, **env) as peer:
                yield peer
        else:
            with STORES[side](folder, **{**model.environment(), **env}) as stack:
                yield stack
