"""Other people's private parts are used in one room, which says of each why, and until when."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.architecture.sources import FLOORS, REPOSITORY, modules, parsed, shown

ROOM = REPOSITORY / "runtime" / "workarounds"
PRODUCT = [path for path in modules(*FLOORS) if ROOM not in path.parents]
OF_THE_LANGUAGE = {"_replace", "_asdict", "_fields", "_make", "_exit"}
"""Of named tuples, and of `os`: their underscores keep them apart from names of fields, and from
`exit`.
"""
IMPORT_MACHINERY = {"sys.modules", "sys.meta_path", "sys.path_hooks"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in OF_THE_LANGUAGE


def is_foreign(module: str) -> bool:
    """Whether somebody else publishes this module; Python itself does not count."""
    top = module.partition(".")[0]
    return top not in FLOORS and top not in sys.stdlib_module_names


def defined_names(tree: ast.Module) -> set[str]:
    """Names that a file defines: functions, classes, fields, and what it assigns to `self`."""
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif is_own_attribute(node) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return names


def is_own_attribute(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("self", "cls")
    )


def imported_modules(tree: ast.Module) -> dict[str, str]:
    """Each name that a file imports → the module it is or comes from."""
    modules_by_name = dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                modules_by_name[name] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                modules_by_name[alias.asname or alias.name] = node.module
    return modules_by_name


def private_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of what a file imports that is private to a library."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            name = f"{module}{alias.name}"
            if is_foreign(name) and any(is_private(part) for part in name.split(".")):
                yield node.lineno, name


def private_attributes(
    tree: ast.Module, own_names: set[str], of_the_project: set[str]
) -> Iterator[tuple[int, str]]:
    """Line and name of private attributes that are not of the file's own objects.

    What an object of ours inherits may be defined in another file of the project.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr):
            continue
        names = of_the_project if is_own_attribute(node) else own_names
        if node.attr not in names:
            yield node.lineno, node.attr


def root_of(node: ast.expr) -> str:
    """The name that a chain of attributes and subscripts begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


CHANGING_METHODS = {"update", "insert", "append", "setdefault", "pop"}


def changed_objects(tree: ast.Module) -> Iterator[ast.expr]:
    """What a file assigns to or deletes, and what it calls `setattr` or a changing method on."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield node
        elif isinstance(node, ast.Call):
            yield from changed_by_call(node)


def changed_by_call(call: ast.Call) -> Iterator[ast.expr]:
    match call.func:
        case ast.Name("setattr" | "delattr"):
            yield call.args[0]
        case ast.Attribute(ast.Attribute() as value, attr) if attr in CHANGING_METHODS:
            yield value
        case _:
            pass


def foreign_changes(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of what a file changes in modules and classes of libraries, or in the machinery
    of imports.
    """
    origins = imported_modules(tree)
    for node in changed_objects(tree):
        root = root_of(node)
        origin = origins.get(root, "")
        if root != "sys" and not (origin and is_foreign(origin)):
            continue
        target = ast.unparse(node)
        if root != "sys" or any(target.startswith(name) for name in IMPORT_MACHINERY):
            yield node.lineno, target


def breaches(
    tree: ast.Module, own_names: set[str], of_the_project: set[str]
) -> list[tuple[int, str]]:
    return [
        *private_imports(tree),
        *private_attributes(tree, own_names, of_the_project),
        *foreign_changes(tree),
    ]


def test_nothing_outside_the_room_reaches_into_a_library() -> None:
    trees = {path: parsed(path) for path in PRODUCT}
    names = {path: defined_names(tree) for path, tree in trees.items()}
    of_the_project = set[str]().union(*names.values())
    uses = [
        f"{shown(path)}:{line} {name}"
        for path, tree in trees.items()
        for line, name in breaches(tree, names[path], of_the_project)
    ]
    assert uses == [], f"belongs into {shown(ROOM)}"


@pytest.mark.parametrize(
    "code",
    [
        "from openpyxl.worksheet._read_only import ReadOnlyWorksheet",
        "import httpx._main",
        "async def handle(client): await client._get_connection()",
        "def prefix(jetstream): return jetstream._prefix",
        "class Protocol(Theirs):\n    def close(self): self._unset_keepalive()",
        "from nats.aio.client import Client\nClient.connect = None",
        "import nats.js.client\nnats.js.client.TIMEOUT = 3",
        "import uvicorn\nsetattr(uvicorn, 'Server', None)",
        "import uvicorn\nuvicorn.config.LOGGING['version'] = 2",
        "import sys\nsys.modules['pandas'] = None",
        "import sys\nsys.meta_path.insert(0, None)",
    ],
)
def test_such_a_line_would_be_found(code: str) -> None:
    tree = ast.parse(code)
    assert breaches(tree, defined_names(tree), set())


@pytest.mark.parametrize("path", sorted(ROOM.glob("[!_]*.py")), ids=lambda path: path.stem)
def test_each_file_says_version_upstream_and_the_test_that_ends_it(path: Path) -> None:
    text = ast.get_docstring(parsed(path)) or ""
    library = path.stem.replace("_", "-")
    assert text.lower().startswith(f"{library} {locked_version(library)}:")
    tests = re.findall(r"May go when `(test_\w+)` fails[^(]*\(`(tests/[\w/]+\.py)`\)", text)
    assert len(tests) == text.count("May go when") == text.count("Upstream:") > 0
    for name, file in tests:
        assert name in defined_names(parsed(REPOSITORY / file)), f"{file} has no {name}"


def locked_version(library: str) -> str:
    text = (REPOSITORY / "requirements" / "embedded.lock.txt").read_text("utf-8")
    line = re.search(rf"^{re.escape(library)}(?:\[\w+\])?==([^ \\]+)", text, re.MULTILINE)
    assert line, f"{library} is not among the requirements"
    return line.group(1)
