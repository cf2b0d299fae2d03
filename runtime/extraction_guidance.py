"""Reads the YAML file in which an installation or a branch sets its own entity types and examples.
Errors name the line.

Keys, all optional: `entity_types_guidance` (lines of text, a list of types, or types with their
meanings), `entity_extraction_examples` and `entity_extraction_json_examples` (lists of texts).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn, cast

import yaml

from runtime.errors import ConfigurationError

LARGEST = 256 * 1024
"""Bytes that the file may have."""


@dataclass(frozen=True)
class GuidanceFile:
    """What such a file says; None where it says nothing. `types`: lines of text, or the meanings of
    types by their names.
    """

    types: str | Mapping[str, str] | None = None
    examples: tuple[str, ...] | None = None
    json_examples: tuple[str, ...] | None = None


def parse_guidance(content: bytes, name: str) -> GuidanceFile:
    """Return what the bytes of such a file say. A `ConfigurationError` names file and line: it
    begins with `name`.
    """
    return _Reader(content, name).guidance()


class _Reader:
    def __init__(self, content: bytes, name: str) -> None:
        self._content = content
        self._name = name

    def guidance(self) -> GuidanceFile:
        values: dict[str, object] = {}
        for key, node in self._entries():
            name = self._text(key)
            if name not in _FIELDS:
                self._fail(
                    key, f"`{name}` is no key of this file; the keys are {', '.join(_FIELDS)}"
                )
            field, read = _FIELDS[name]
            values[field] = read(self, node)
        return GuidanceFile(**values)  # pyright: ignore[reportArgumentType]  # each reader gives its field's type

    def _entries(self) -> list[tuple[yaml.Node, yaml.Node]]:
        try:
            size = len(self._content)
            if size > LARGEST:
                self._fail(None, f"it has {size} bytes, at most {LARGEST} are read")
            text = self._content.decode("utf-8")
            root = cast("yaml.Node | None", yaml.compose(text, Loader=yaml.SafeLoader))
        except UnicodeDecodeError as error:
            raise ConfigurationError(f"{self._name} is not UTF-8") from error
        except yaml.MarkedYAMLError as error:
            position = error.problem_mark or error.context_mark
            where = f" line {position.line + 1}" if position else ""
            raise ConfigurationError(
                f"{self._name}{where}: {error.problem or error.context}"
            ) from error
        except yaml.YAMLError as error:
            raise ConfigurationError(f"{self._name}: {error}") from error
        if root is None:
            return []
        if not isinstance(root, yaml.MappingNode):
            self._fail(root, "the file must be a mapping of keys to values")
        return root.value

    def types(self, node: yaml.Node) -> str | Mapping[str, str]:
        """Return the entity types of a text as it is, those of a list or a mapping with their
        meanings.
        """
        if isinstance(node, yaml.MappingNode):
            types = {
                self._text(key): self._text(value, may_be_empty=True) for key, value in node.value
            }
        elif isinstance(node, yaml.SequenceNode):
            types = {self._text(item): "" for item in node.value}
        else:
            return self._text(node)
        return types or self._fail(node, "at least one type is needed")

    def texts(self, node: yaml.Node) -> tuple[str, ...]:
        """Return the texts of a list, or a single text as a list of one."""
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        return tuple(self._text(item) for item in items)

    def _text(self, node: yaml.Node, *, may_be_empty: bool = False) -> str:
        if not isinstance(node, yaml.ScalarNode):
            self._fail(node, "a text is expected here")
        text = str(node.value).strip()
        return text if text or may_be_empty else self._fail(node, "this must not be empty")

    def _fail(self, node: yaml.Node | None, reason: str) -> NoReturn:
        where = f" line {node.start_mark.line + 1}" if node else ""
        raise ConfigurationError(f"{self._name}{where}: {reason}")


_FIELDS: dict[str, tuple[str, Callable[[_Reader, yaml.Node], object]]] = {
    "entity_types_guidance": ("types", _Reader.types),
    "entity_extraction_examples": ("examples", _Reader.texts),
    "entity_extraction_json_examples": ("json_examples", _Reader.texts),
}
