"""The shape of the code: how long its functions are, how dense its lines, how plain its names.

    python -m benchmarks.code_shape [--names] [--list] [FOLDER …]

Prints a table in Markdown with a column for each folder; without folders one for the product, each
service and the tests of this repository. `--names` adds how often each vague name is assigned,
`--list` where: a line `path:line name` for each. Any folder of Python files will do, another
project's too.
What each row counts is said at `Shape`, which names count as vague at `is_vague`.
"""

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]

NOT_PRODUCT = {"benchmarks", "distribution", "docs", "tests"}
"""Folders at the top whose Python files no user runs."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRONOUNS = _words(
    """
    all another any both each every everybody everything few it its least less many more most much
    nobody none nothing one ones other others rest several some somebody something such that them
    these they thing things this those what whatever which who whoever whom whose
    """
)
"""Pronouns, what stands in for one (`thing`), and words that only say how many."""

ADJECTIVES = _words(
    """
    alone bad big broken current different early empty former fresh full good last late latest left
    long longer missing new newer newest next old older oldest only own plain present previous
    ready real right same short shorter single small spare straight true usual whole wrong
    """
)
"""Adjectives that leave out what they describe."""

PARTICIPLES = _words(
    """
    begun bound bought broken brought built chosen come done drawn fed felt forgotten found
    given gone grown heard held hidden kept known laid lent lost made meant met paid
    said seen sent shown spent spoken stood stuck sunk swept taken taught thought told torn
    understood unknown woken won worn woven written
    """
)
"""Irregular participles, without those that are also nouns or verbs of the field: cut, put, read,
run, set.
"""

OTHER_VAGUE_WORDS = frozenset({"look", "looks", "mark", "marks"})
"""Words of this code that meant several things at once."""

NOT_PARTICIPLES = frozenset(
    {"bed", "breed", "embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "speed"}
)
"""Words that end like a regular participle and are none."""

REGULAR_PARTICIPLE = re.compile("[a-z]{2,}ed")

VAGUE_WORDS = PRONOUNS | ADJECTIVES | PARTICIPLES | OTHER_VAGUE_WORDS

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_vague(name: str) -> bool:
    """Return whether a name is nothing but a pronoun, an adjective or a participle: `one`, `new`,
    `found`, `merged`, but not `new_keys`. An underscore before it does not count.
    """
    if name.startswith("__"):
        return False
    word = name.strip("_")
    if word in VAGUE_WORDS:
        return True
    return bool(REGULAR_PARTICIPLE.fullmatch(word)) and word not in NOT_PARTICIPLES


def assigned_name(node: ast.AST) -> str:
    """Return the name that a variable or a parameter gets at this node; "" at any other node."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case _:
            return ""


def function_lines(function: Function) -> int:
    """Return the lines of a function with its signature and docstring, without decorators."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


@dataclass
class Shape:
    """What was counted in some Python files."""

    lines: int = 0
    """Lines that are not blank."""
    characters: int = 0
    """Characters of these lines, without the indentation."""
    comments: int = 0
    """Lines with a comment, behind code or alone; docstrings are none."""
    function_lines: list[int] = field(default_factory=list[int])
    """Of each function: see `function_lines`."""
    comprehensions: int = 0
    """Comprehensions and generator expressions."""
    packed_assignments: int = 0
    """Assignments of several values to as many names at once: `a, b = x, y`."""
    walruses: int = 0
    ternaries: int = 0
    names: Counter[str] = field(default_factory=Counter[str])
    """Names that are assigned: variables, also of loops and comprehensions, and parameters."""

    @property
    def vague_names(self) -> Counter[str]:
        """Return those of the names that are vague."""
        return Counter({name: count for name, count in self.names.items() if is_vague(name)})

    @property
    def vague_percent(self) -> float:
        """Return the percentage of assigned names that are vague."""
        return 100 * self.vague_names.total() / max(1, self.names.total())

    def add(self, text: str) -> None:
        """Count one file's text. Raises SyntaxError if it is not Python."""
        for line in text.splitlines():
            if line.strip():
                self.lines += 1
                self.characters += len(line.strip())
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        self.comments += sum(token.type == tokenize.COMMENT for token in tokens)
        for node in ast.walk(ast.parse(text)):
            self._add_node(node)

    def _add_node(self, node: ast.AST) -> None:
        if name := assigned_name(node):
            self.names[name] += 1
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.function_lines.append(function_lines(node))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self.comprehensions += 1
            case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple()):
                self.packed_assignments += 1
            case ast.NamedExpr():
                self.walruses += 1
            case ast.IfExp():
                self.ternaries += 1
            case _:
                pass


def shape_of(paths: Iterable[Path]) -> Shape:
    """Return the shape of these files."""
    shape = Shape()
    for path in paths:
        shape.add(path.read_text("utf-8"))
    return shape


def vague_places(paths: Iterable[Path]) -> list[str]:
    """Return `path:line name` for each assignment of a vague name, by path and line."""
    places: list[str] = []
    for path in paths:
        assignments = sorted(
            (node.lineno, name)
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if (name := assigned_name(node)) and is_vague(name)
        )
        places += [f"{path}:{line} {name}" for line, name in assignments]
    return places


def python_files(folder: Path) -> list[Path]:
    """Return the Python files below a folder, by path, but none of hidden folders."""
    return [
        path
        for path in sorted(folder.rglob("*.py"))
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def product_folders(repository: Path = REPOSITORY) -> list[Path]:
    """Return the folders at the top of a repository whose code users run."""
    return [
        folder
        for folder in sorted(repository.iterdir())
        if folder.is_dir() and folder.name not in NOT_PRODUCT and (folder / "__init__.py").exists()
    ]


def default_files() -> dict[str, list[Path]]:
    """Return the files of the product, each service and the tests, by title."""
    files = {"product": [path for folder in product_folders() for path in python_files(folder)]}
    for service in sorted((REPOSITORY / "services").iterdir()):
        if (service / "__init__.py").exists():
            files[service.name] = python_files(service)
    files["tests"] = python_files(REPOSITORY / "tests")
    return files


def percentile(values: Sequence[int], share: float) -> int:
    """Return the smallest value that so large a share of the values does not exceed; 0 without
    values.
    """
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else 0


def rows(shape: Shape) -> dict[str, str]:
    """Return the cells of a column by title of row."""
    thousands = max(1, shape.lines) / 1000
    functions = shape.function_lines
    lengths = (percentile(functions, 0.5), percentile(functions, 0.95), max(functions, default=0))
    walruses = f"{shape.walruses / thousands:.1f}"
    ternaries = f"{shape.ternaries / thousands:.1f}"
    return {
        "lines that are not blank": f"{shape.lines:,}",
        "function median / p95 / max lines": " / ".join(f"{length:,}" for length in lengths),
        "characters per line": f"{shape.characters / max(1, shape.lines):.1f}",
        "comprehensions per 1,000 lines": f"{shape.comprehensions / thousands:.1f}",
        "`a, b = x, y` per 1,000 lines": f"{shape.packed_assignments / thousands:.1f}",
        "walrus / ternaries per 1,000 lines": f"{walruses} / {ternaries}",
        "assigned names that are vague": f"{shape.vague_percent:.2f} %",
        "lines with a comment": f"{100 * shape.comments / max(1, shape.lines):.1f} %",
    }


def table(shapes: dict[str, Shape]) -> str:
    """Return the table in Markdown, a column for each shape."""
    columns = [rows(shape) for shape in shapes.values()]
    lines = [f"| per folder | {' | '.join(shapes)} |", f"|---|{'---|' * len(shapes)}"]
    lines += [
        f"| {title} | {' | '.join(column[title] for column in columns)} |"
        for title in rows(Shape())
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, and with `--names` or `--list` the vague names behind it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--names", action="store_true", help="list vague names with their counts")
    parser.add_argument("--list", action="store_true", help="list where vague names are assigned")
    arguments = parser.parse_args()
    folders: list[Path] = arguments.folders
    files = {str(folder): python_files(folder) for folder in folders} or default_files()
    shapes = {title: shape_of(paths) for title, paths in files.items()}
    print(table(shapes))
    if arguments.names:
        for title, shape in shapes.items():
            names = ", ".join(f"{name} {n}" for name, n in shape.vague_names.most_common())
            print(f"\n{title}: {names}")
    if arguments.list:
        distinct_files = dict.fromkeys(path for paths in files.values() for path in paths)
        print("", *vague_places(distinct_files), sep="\n")


if __name__ == "__main__":
    main()
