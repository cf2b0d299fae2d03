"""Puts a prefix before the project's own packages in a source file: in imports, and in strings that
name a module.

Every change is an insertion, so lines keep their numbers and errors point at what stands in the
repository.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

Insertion = tuple[int, str]
"""A byte offset in the source, and what is put there."""


class CannotPrefix(Exception):
    """A file names a package in a form that has no prefixed counterpart; says where and what to
    write instead.
    """


@dataclass(frozen=True)
class OwnModules:
    """The modules that move below `prefix`: full names as the repository has them."""

    prefix: str
    names: frozenset[str]

    @property
    def packages(self) -> frozenset[str]:
        """Return the first parts of the names."""
        return frozenset(name.partition(".")[0] for name in self.names)

    def has_package_of(self, module: str) -> bool:
        """Return True if the module stands in one of these packages."""
        return module.partition(".")[0] in self.packages


class Source:
    """The text of a file, with offsets for the places that the syntax tree names."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content
        self._starts = [0]
        for line in content.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place: lines count from 1, columns are bytes from 0."""
        return self._starts[line - 1] + column

    def start(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        """Return the offset at which the node begins."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        """Return the offset behind the node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def where(self, node: ast.stmt) -> str:
        """Return file and line, as messages name them."""
        return f"{self.path}:{node.lineno}"


def prefixed(path: str, content: bytes, modules: OwnModules) -> bytes:
    """Return the file with the prefix put before every name of an own module. Raises CannotPrefix
    for an import that binds the first part of a name alone.
    """
    source = Source(path, content)
    tree = ast.parse(content, path)
    insertions = sorted({*_imports(source, tree, modules), *_strings(source, tree, modules)})
    result = bytearray(content)
    for offset, text in reversed(insertions):
        result[offset:offset] = text.encode()
    return bytes(result)


def _imports(source: Source, tree: ast.Module, modules: OwnModules) -> Iterator[Insertion]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and node.level == 0
            and modules.has_package_of(node.module or "")
        ):
            yield _in_from(source, node, modules)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if modules.has_package_of(alias.name):
                    yield from _in_import(source, node, alias, modules)


def _in_from(source: Source, node: ast.ImportFrom, modules: OwnModules) -> Insertion:
    start = source.start(node)
    keyword = re.compile(rb"from[ \t]+(?=\w)").match(source.content, start)
    if keyword is None:
        raise CannotPrefix(f"{source.where(node)}: write `from {node.module} import …` on one line")
    return keyword.end(), f"{modules.prefix}."


def _in_import(
    source: Source, node: ast.Import, alias: ast.alias, modules: OwnModules
) -> Iterator[Insertion]:
    if alias.asname is None and "." in alias.name:
        raise CannotPrefix(
            f"{source.where(node)}: `import {alias.name}` binds `{alias.name.partition('.')[0]}`, "
            "which the wheel has not; write `from … import …`, or give it a name with `as`"
        )
    yield source.start(alias), f"{modules.prefix}."
    if alias.asname is None:
        yield source.end(alias), f" as {alias.name}"


def _strings(source: Source, tree: ast.Module, modules: OwnModules) -> Iterator[Insertion]:
    """Yield where a string names a module: whole, as the beginning of a formatted string, behind
    the argument `-m`, or in a text that tells of `python -m`.
    """
    in_formatted = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    behind_option = {id(node) for node in _behind_module_option(tree)}
    for node in ast.walk(tree):
        if id(node) in in_formatted:
            continue
        if isinstance(node, ast.JoinedStr):
            yield from _in_formatted(source, node, modules)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_name = (
                modules.has_package_of(node.value)
                if id(node) in behind_option
                else "." in node.value
            )
            yield from _in_text(source, node, modules, is_name=is_name)


def _behind_module_option(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the arguments that follow `"-m"` in a list, a tuple or a call."""
    for node in ast.walk(tree):
        arguments: list[ast.expr] = []
        if isinstance(node, ast.List | ast.Tuple):
            arguments = node.elts
        elif isinstance(node, ast.Call):
            arguments = node.args
        for option, module in pairwise(arguments):
            if isinstance(option, ast.Constant) and option.value == "-m":
                yield module


def _in_formatted(source: Source, node: ast.JoinedStr, modules: OwnModules) -> Iterator[Insertion]:
    text = source.content[source.start(node) : source.end(node)]
    begins = re.match(rb"[rRfF]+(?:'{3}|\"{3}|'|\")(?=(\w+)\.[\w.]*\{)", text)
    if begins and begins[1].decode() in modules.packages:
        yield source.start(node) + begins.end(), f"{modules.prefix}."
    yield from _in_advice(source, node, modules)


def _in_text(
    source: Source, node: ast.Constant, modules: OwnModules, *, is_name: bool
) -> Iterator[Insertion]:
    if is_name and node.value in modules.names:
        text = source.content[source.start(node) : source.end(node)]
        quotes = re.match(rb"[rRuU]?(?:'{3}|\"{3}|'|\")(?=%b\W)" % node.value.encode(), text)
        if quotes is None:
            raise CannotPrefix(
                f"{source.path}:{node.lineno}: write the name {node.value!r} as one string"
            )
        yield source.start(node) + quotes.end(), f"{modules.prefix}."
    else:
        yield from _in_advice(source, node, modules)


def _in_advice(source: Source, node: ast.expr, modules: OwnModules) -> Iterator[Insertion]:
    """Yield the places behind `python -m` in a text for people."""
    start = source.start(node)
    for command in re.finditer(rb"\bpython -m (?=(\w+))", source.content[start : source.end(node)]):
        if command[1].decode() in modules.packages:
            yield start + command.end(), f"{modules.prefix}."
