"""The code's names say what they name, and a line says one thing: neither share rises again."""

from pathlib import Path

import pytest

from benchmarks.code_shape import (
    Shape,
    default_files,
    is_vague,
    product_folders,
    python_files,
    shape_of,
    table,
    vague_places,
)
from tests.architecture.sources import FLOORS, REPOSITORY

MAX_VAGUE_PERCENT = {"product": 0.8, "tests": 2.5}
"""The percentage of assigned names that may be vague. Lower it with the names; never raise it. Most
of the product's are fields of events, manifests and answers, whose names are a promise.
"""

MAX_PACKED = {"product": 0.8, "tests": 1.8}
"""How many assignments of 1,000 lines may give several names their values at once."""

SOURCE = '''
def f(first: int, *, one: int = 0) -> int:
    """Return a sum."""
    found, total = first, one  # packed

    return found if total else sum(item for item in range(total))


if (size := f(1)) > 2:
    print("1 comment # only")
'''


@pytest.mark.parametrize("title", ["product", "tests"])
def test_the_shape_gets_no_worse(title: str) -> None:
    shape = shape_of(default_files()[title])
    packed = 1000 * shape.packed_assignments / shape.lines
    most_common = shape.vague_names.most_common(20)
    assert shape.names.total() > 10_000
    assert shape.vague_percent <= MAX_VAGUE_PERCENT[title], (
        f"more names are a pronoun, an adjective or a participle alone: {most_common}"
    )
    assert packed <= MAX_PACKED[title], "write `a, b = x, y` one a line"


def test_the_product_is_every_package_that_users_run() -> None:
    assert {folder.name for folder in product_folders()} == set(FLOORS)


def test_what_is_counted() -> None:
    shape = Shape()
    shape.add(SOURCE)
    assert (shape.lines, shape.comments) == (6, 1)
    assert shape.function_lines == [5]
    assert (shape.comprehensions, shape.packed_assignments) == (1, 1)
    assert (shape.walruses, shape.ternaries) == (1, 1)
    assert sorted(shape.names.elements()) == ["first", "found", "item", "one", "size", "total"]
    assert dict(shape.vague_names) == {"found": 1, "one": 1}


def test_a_name_is_vague_without_the_noun_it_describes() -> None:
    assert all(is_vague(name) for name in ("one", "new", "_known", "merged", "thing", "mark"))
    assert not any(is_vague(name) for name in ("new_key", "seed", "__all__", "chunk", "_", "read"))


def test_vague_names_are_listed_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(SOURCE, "utf-8")
    assert vague_places([file]) == [f"{file}:2 one", f"{file}:4 found"]


def test_the_table_has_a_column_for_each_folder(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    for name in ("a.py", ".hidden/b.py"):
        (tmp_path / name).write_text(SOURCE, "utf-8")
    assert [path.name for path in python_files(tmp_path)] == ["a.py"]
    lines = table({"here": shape_of(python_files(tmp_path)), "nothing": Shape()}).splitlines()
    assert lines[0] == "| per folder | here | nothing |"
    assert "| function median / p95 / max lines | 5 / 5 / 5 | 0 / 0 / 0 |" in lines
    assert "| assigned names that are vague | 33.33 % | 0.00 % |" in lines


def test_the_results_page_names_the_command_that_makes_it() -> None:
    page = (REPOSITORY / "benchmarks/results/code_shape.md").read_text("utf-8")
    assert "python -m benchmarks.code_shape" in page
