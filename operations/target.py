"""Selects the stack of a command: that of a data folder, or the deployment that the environment
names.

A data folder that was asked for always wins. Without one, `NATS_URL` in the environment means the
deployment it names, with the stores of the other variables, as the services there have them; else
it is the folder `.lightstream`.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from embedded.addresses import service_addresses
from embedded.data_folder import DataFolder, StackState
from embedded.environment import settings_from, stack_environment
from operations.query_service import named_by_environment
from operations.settings import read_settings
from runtime.bus.nats.addresses import parse_bus_address
from runtime.settings import Settings

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Target:
    """A stack that a command can talk to. `folder` is None for a deployment."""

    name: str
    settings: Settings
    api: str
    folder: DataFolder | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """The variables that the services have."""

    @property
    def folder_of_stores(self) -> DataFolder | None:
        """The data folder that holds the stores' files, None where they are servers elsewhere."""
        return None if self.folder is None or self.folder.read().stores else self.folder

    def settings_of(self, kind: type[S]) -> S:
        """The settings of a service of this stack."""
        return settings_from(kind, self.environ)

    @contextmanager
    def rebuild_lock(self) -> Generator[None]:
        """Lock the data folder for a rebuild, where there is one. Raises `Busy` during another
        rebuild.

        A rebuild of a deployment needs no lock: when another one began later, it notices and
        switches nothing.
        """
        if self.folder is None:
            yield
            return
        with self.folder.rebuild_lock():
            yield


def select_target(data: Path | None) -> Target:
    """The stack that is meant. Raises `NoStack` for a folder without one, ConfigurationError for
    settings of no use.
    """
    if named_by_environment(data):
        return target_of_environment()
    folder = DataFolder.at(data)
    return target_of_stack(folder, folder.ready_state())


def target_of_stack(folder: DataFolder, state: StackState) -> Target:
    """The stack that runs in the folder, with the models it was started with, whatever this shell
    names.
    """
    places = {name.upper(): value for name, value in service_addresses(folder, state).items()}
    environ = {**stack_environment(state), **places}
    return Target(
        f"the stack in {folder.path}", settings_from(Settings, environ), state.api, folder, environ
    )


def target_of_environment() -> Target:
    """The deployment that the environment names. Raises ConfigurationError for settings of no
    use.
    """
    settings = read_settings()
    return Target(
        f"the deployment at {parse_bus_address(settings.nats_url).shown}",
        settings,
        settings.lightstream_api_url,
    )
