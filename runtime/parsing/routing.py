"""Which files a service reads instead of our parsers, by the rules of `LIGHTRAG_PARSER`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import cast, get_args

from contracts.chunking import LIGHTRAG_LETTERS, Chunking
from runtime.errors import ConfigurationError, InvalidInput
from runtime.parsing.content import Content
from runtime.parsing.engines import SUFFIXES, Engine, ServiceAddress
from runtime.parsing.kinds import KINDS, PICTURES, readable_kinds
from runtime.parsing.recognition import USUAL_LIMITS, RecognitionLimits

_PARAMETERS = re.compile(r"\([^)]*\)")
"""What LightRAG gives a reader, as `docling(force_ocr=true)`."""


@dataclass(frozen=True)
class Rule:
    """Who reads the files of a pattern, of a suffix (`pdf`) or of a name (`scans/*.pdf`), and how
    their texts are cut, None for as usual.
    """

    pattern: str
    engine: Engine
    chunking: Chunking | None = None

    def fits(self, name: str) -> bool:
        """Return whether the rule is about a file of that name."""
        path = PurePosixPath(name.lower())
        if "." not in self.pattern and "/" not in self.pattern:
            return fnmatchcase(path.suffix.removeprefix("."), self.pattern)
        return fnmatchcase(str(path), self.pattern) or fnmatchcase(path.name, self.pattern)

    def example(self, suffix: str) -> str:
        """Return a name with this suffix that the rule fits, where there is one."""
        return self.pattern.replace("*", "file").removesuffix(suffix) + suffix

    def is_followed(self, name: str) -> bool:
        """Return whether who reads by the rule reads a file of that name."""
        suffixes = SUFFIXES.get(self.engine)
        return self.fits(name) and (
            suffixes is None or PurePosixPath(name.lower()).suffix in suffixes
        )


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Return the rules of `LIGHTRAG_PARSER`: `pdf:docling; scans/*:mineru`.

    Of what LightRAG has behind the name of a reader (`pdf:mineru-iteP`) the letters `F`, `R`, `V`
    and `P` tell how texts are cut; the rest is left out. Raises ConfigurationError with what is
    wrong.
    """
    rules: list[Rule] = []
    for part in text.replace(",", ";").split(";"):
        if not part.strip():
            continue
        pattern, colon, reader = (piece.strip() for piece in part.rpartition(":"))
        engine, _, options = _PARAMETERS.sub("", reader).partition("-")
        engine = engine.strip().lower()
        if not colon or not pattern:
            raise ConfigurationError(f"LIGHTRAG_PARSER: {part.strip()!r} is no pattern:reader")
        engine = "native" if engine == "legacy" else engine
        if engine not in get_args(Engine):
            readers = ", ".join(get_args(Engine))
            raise ConfigurationError(f"LIGHTRAG_PARSER: {engine!r} is no reader: {readers}")
        rules.append(Rule(pattern.lower(), cast("Engine", engine), _chunking(options)))
    return tuple(rules)


def _chunking(options: str) -> Chunking | None:
    """Return the chunking by the letter among the options. Raises ConfigurationError for two."""
    letters = [letter for letter in options if letter in LIGHTRAG_LETTERS]
    if len(letters) > 1:
        raise ConfigurationError(
            f"LIGHTRAG_PARSER: {options!r} cuts in {len(letters)} ways: choose one of "
            f"{', '.join(LIGHTRAG_LETTERS)}"
        )
    return Chunking.by(LIGHTRAG_LETTERS[letters[0]]) if letters else None


@dataclass(frozen=True)
class ParsingServices:
    """The services that read files, and the rules by which they are chosen, the first that fits.

    `seconds`: the most that a service may take for one file. `plugins`: suffixes without the dot
    whose parsers installed packages bring; such a parser reads what our own do not, and where a
    rule says so also what they do. `keeps_figures`: whether documents keep the pictures of files.
    """

    rules: tuple[Rule, ...] = ()
    addresses: Mapping[Engine, ServiceAddress] = field(default_factory=dict[Engine, ServiceAddress])
    seconds: float = 600.0
    plugins: frozenset[str] = frozenset()
    keeps_figures: bool = True
    recognition: RecognitionLimits = USUAL_LIMITS
    """Of files that our own parsers read."""

    def engine(self, name: str) -> Engine:
        """Return who reads a file of that name."""
        suffix = PurePosixPath(name).suffix.lower()
        engines: list[Engine] = [rule.engine for rule in self.rules if rule.fits(name)]
        engine = engines[0] if engines else None
        if engine and suffix in SUFFIXES.get(engine, ()):
            return engine
        is_wanted = engine == "plugin" or (engine != "native" and suffix not in readable_kinds())
        return "plugin" if is_wanted and suffix.removeprefix(".") in self.plugins else "native"

    def reads(self, name: str) -> bool:
        """Return whether a service reads a file of that name."""
        return self.engine(name) != "native"

    def suffixes(self) -> dict[str, list[str]]:
        """Return the suffixes of files that services and plugins read, by who does; those of which
        a rule takes only some names stand there too.
        """
        engines: dict[str, list[str]] = {}
        plugin_suffixes = [f".{suffix}" for suffix in sorted(self.plugins)]
        for suffix in dict.fromkeys([*KINDS, *PICTURES, *plugin_suffixes]):
            names = [f"file{suffix}", *(rule.example(suffix) for rule in self.rules)]
            engine = next((engine for engine in map(self.engine, names) if engine != "native"), "")
            if engine:
                engines.setdefault(engine, []).append(suffix)
        return engines

    def chunking(self, name: str) -> Chunking | None:
        """Return how the text of a file of that name is cut, None for as usual."""
        followed = (rule for rule in self.rules if rule.is_followed(name))
        return next((rule.chunking for rule in followed), None)

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
