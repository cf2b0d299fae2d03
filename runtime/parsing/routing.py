"""Which files a service reads instead of our parsers, by the rules of `LIGHTRAG_PARSER`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Literal, cast, get_args

from runtime.errors import ConfigurationError, InvalidInput
from runtime.parsing.content import Content
from runtime.parsing.kinds import KINDS

Engine = Literal["native", "docling", "mineru", "plugin"]
"""Who reads a file; `native` is our own parser. LightRAG's `legacy` means the same. `plugin` is the
parser of an installed package.
"""

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
DOCLING_SUFFIXES = (".pdf", ".docx", ".pptx", ".xlsx", ".html", ".htm", ".md", ".csv")
MINERU_SUFFIXES = (".pdf", ".docx", ".gif")
SUFFIXES: dict[Engine, frozenset[str]] = {
    "docling": frozenset([*DOCLING_SUFFIXES, *PICTURE_SUFFIXES]),
    "mineru": frozenset([*MINERU_SUFFIXES, *PICTURE_SUFFIXES]),
}
"""What a service reads; of other files a rule says nothing."""


@dataclass(frozen=True)
class Rule:
    """Who reads the files of a pattern: of a suffix (`pdf`), or of a name (`scans/*.pdf`)."""

    pattern: str
    engine: Engine

    def fits(self, name: str) -> bool:
        """Return whether the rule is about a file of that name."""
        path = PurePosixPath(name.lower())
        if "." not in self.pattern and "/" not in self.pattern:
            return fnmatchcase(path.suffix.removeprefix("."), self.pattern)
        return fnmatchcase(str(path), self.pattern) or fnmatchcase(path.name, self.pattern)


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Return the rules of `LIGHTRAG_PARSER`: `pdf:docling; scans/*:mineru`.

    What LightRAG has behind the name of a reader (`pdf:mineru-iet`) is about its own chunks and
    figures, and left out. Raises ConfigurationError with what is wrong.
    """
    rules: list[Rule] = []
    for part in text.replace(",", ";").split(";"):
        if not part.strip():
            continue
        pattern, colon, reader = (piece.strip().lower() for piece in part.rpartition(":"))
        engine = reader.partition("-")[0].partition("(")[0].strip()
        if not colon or not pattern:
            raise ConfigurationError(f"LIGHTRAG_PARSER: {part.strip()!r} is no pattern:reader")
        engine = "native" if engine == "legacy" else engine
        if engine not in get_args(Engine):
            readers = ", ".join(get_args(Engine))
            raise ConfigurationError(f"LIGHTRAG_PARSER: {engine!r} is no reader: {readers}")
        rules.append(Rule(pattern, cast("Engine", engine)))
    return tuple(rules)


@dataclass(frozen=True)
class ServiceAddress:
    """Where a service is, and the key it wants; empty for none."""

    url: str
    key: str = ""


@dataclass(frozen=True)
class ParsingServices:
    """The services that read files, and the rules by which they are chosen, the first that fits.

    `seconds`: the most that a service may take for one file. `plugins`: suffixes without the dot
    whose parsers installed packages bring; such a parser reads what our own do not, and where a
    rule says so also what they do.
    """

    rules: tuple[Rule, ...] = ()
    addresses: Mapping[Engine, ServiceAddress] = field(default_factory=dict[Engine, ServiceAddress])
    seconds: float = 600.0
    plugins: frozenset[str] = frozenset()

    def engine(self, name: str) -> Engine:
        """Return who reads a file of that name."""
        suffix = PurePosixPath(name).suffix.lower()
        engines: list[Engine] = [rule.engine for rule in self.rules if rule.fits(name)]
        engine = engines[0] if engines else None
        if engine and suffix in SUFFIXES.get(engine, ()):
            return engine
        is_wanted = engine == "plugin" or (engine != "native" and suffix not in KINDS)
        return "plugin" if is_wanted and suffix.removeprefix(".") in self.plugins else "native"

    def reads(self, name: str) -> bool:
        """Return whether a service reads a file of that name."""
        return self.engine(name) != "native"

    async def content(self, data: bytes, name: str) -> Content:
        """Return what the service or the plugin that reads the file gives, as Markdown.

        Raises InvalidInput with its reason for a file that it cannot read, Unavailable where it
        does not answer or has no time.
        """
        engine = self.engine(name)
        if engine == "plugin":
            suffix = PurePosixPath(name).suffix.lower().removeprefix(".")
            from runtime.parsing.sandbox import parse_plugin_file  # noqa: PLC0415

            return await parse_plugin_file(suffix, data)
        if engine not in self.addresses:
            raise InvalidInput(f"LIGHTRAG_PARSER has {engine} read it, which has no address")
        # The client of HTTP is loaded by who has a service.
        from runtime.parsing.services import read_by_service  # noqa: PLC0415

        return await read_by_service(engine, self.addresses[engine], data, name, self.seconds)


OWN_PARSERS = ParsingServices()
"""No service: our own parsers read all files."""
