"""The parts of an Office Open XML file and the relationships between them."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_HOLDS_MACROS = re.compile(r"(^|/)vbaproject\.bin$|^basic/(?!.*script-l[bc]\.xml$)|^scripts/.")
"""Names of parts, in lower case; the lists of OpenDocument's programs are none themselves."""


class Relationship(NamedTuple):
    """Where a relationship leads: the last word of its type, as `footnotes`, and the path of the
    part.
    """

    kind: str
    path: str


class OfficeParts:
    """The parts of a package that `package.check` has let pass. Names of elements are compared
    without namespaces.
    """

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(BytesIO(data))
        self._names = {name.lower(): name for name in self._archive.namelist()}

    def xml(self, path: str) -> Element:
        """Return the root of a part. Raises KeyError without such a part and ParseError for what is
        no XML.
        """
        name = self._names[path.lower()]
        return ElementTree.fromstring(self._archive.read(name))  # noqa: S314

    def content(self, path: str) -> bytes:
        """Return the bytes of a part; none without such a part."""
        name = self._names.get(path.lower())
        return self._archive.read(name) if name else b""

    def has_macros(self) -> bool:
        """Return whether the file has programs in it, of Office or of OpenDocument."""
        return any(map(_HOLDS_MACROS.search, self._names))

    def relationships(self, path: str) -> dict[str, Relationship]:
        """Return the relationships of a part by their ids, without those that lead out of the
        package.
        """
        folder, name = posixpath.split(path)
        source = posixpath.join(folder, "_rels", f"{name}.rels")
        if source.lower() not in self._names:
            return {}
        return dict(_relationships(self.xml(source), folder))

    def main(self) -> str:
        """Return the path of the main part. Raises LookupError without one."""
        paths = [
            relationship.path
            for relationship in self.relationships("").values()
            if relationship.kind == "officeDocument"
        ]
        if not paths:
            raise LookupError("no main part")
        return paths[0]


def _relationships(root: Element, folder: str) -> Iterator[tuple[str, Relationship]]:
    for relationship_element in root:
        if relationship_element.get("TargetMode") != "External" and (
            target := relationship_element.get("Target")
        ):
            path = (
                target.lstrip("/")
                if target.startswith("/")
                else posixpath.normpath(posixpath.join(folder, target))
            )
            yield (
                relationship_element.get("Id", ""),
                Relationship(relationship_element.get("Type", "").rpartition("/")[2], path),
            )


def local(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """Return the attribute of that name in any namespace."""
    if element is None:
        return default
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return value
    return default


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first child of that name, or what a path of such names leads to; None without
    one.
    """
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def descendants(element: Element, name: str) -> Iterator[Element]:
    """Yield the elements of that name below this one, in their order."""
    return (inner for inner in element.iter() if local(inner) == name)


def number(text: str, default: int, max_value: int) -> int:
    """Return the number that an attribute gives, at least 0 and at most `max_value`; `default` for
    what is none.
    """
    try:
        return max(0, min(int(text), max_value))
    except ValueError:
        return default
