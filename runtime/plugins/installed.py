"""The chunkers and parsers of installed packages, by the entry points that those register."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from runtime.errors import InvalidInput

Group = Literal["lightstream.chunkers", "lightstream.parsers"]
"""Groups of entry points. The name of a chunker is that of its strategy, the name of a parser the
suffix of its files without the dot.
"""


@dataclass(frozen=True)
class Plugin:
    """A function that a package registers."""

    entry_point: EntryPoint

    @property
    def title(self) -> str:
        """Return what it is and whose, for errors: `the chunker 'lines' of acme-lines 1.0`."""
        kind = self.entry_point.group.removeprefix("lightstream.").removesuffix("s")
        package = self.entry_point.dist
        owner = f"{package.name} {package.version}" if package else "an unknown package"
        return f"the {kind} {self.entry_point.name!r} of {owner}"

    def load(self) -> Callable[..., Any]:
        """Return the function. Raises InvalidInput where it cannot be imported or is none."""
        try:
            function = self.entry_point.load()
        except (Exception, SystemExit) as error:
            raise InvalidInput(f"{self.title} cannot be loaded: {cause(error)}") from None
        if not callable(function):
            raise InvalidInput(f"{self.title} is no function: {self.entry_point.value}")
        return function


def plugins(group: Group) -> Mapping[str, Plugin]:
    """Return the plugins of the group by their names, in lower case.

    Of two packages with one name neither is taken.
    """
    return _plugins(group, tuple(sys.path))


def plugin(group: Group, name: str) -> Plugin:
    """Return the plugin. Raises InvalidInput with those that there are for a name of none."""
    if name in plugins(group):
        return plugins(group)[name]
    names = ", ".join(sorted(plugins(group))) or "none"
    raise InvalidInput(
        f"no installed package has {name!r} in {group} ({names}), or several have it: install the "
        "package that brings it where Lightstream's processes run, and start them again"
    )


def cause(error: BaseException) -> str:
    """Return an error of a plugin in a line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}".removesuffix(": ")


@lru_cache(maxsize=8)
def _plugins(group: Group, _: tuple[str, ...]) -> Mapping[str, Plugin]:
    """Return the plugins on this path of modules; reading it takes some 50 ms."""
    plugins: dict[str, list[Plugin]] = {}
    for entry_point in entry_points(group=group):
        plugins.setdefault(entry_point.name.lower(), []).append(Plugin(entry_point))
    return {name: owners[0] for name, owners in plugins.items() if len(owners) == 1}
