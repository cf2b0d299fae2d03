"""The tree that the wheel is built from, laid out from this repository."""

import ast
import re
from pathlib import Path

import pytest

from distribution.wheel_tree import MOVED, PACKAGE, CannotLayOut, lay_out
from tests.architecture.sources import FLOORS, REPOSITORY, imported

COMMANDS = [
    REPOSITORY / "docker-compose.yml",
    *sorted((REPOSITORY / "deploy").rglob("*.tpl")),
    *sorted((REPOSITORY / "tests/unit/deploy/chart").glob("*.golden.yaml")),
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    lay_out(REPOSITORY, folder)
    return folder


@pytest.fixture(scope="module")
def parsed(tree: Path) -> dict[str, ast.Module]:
    """The syntax of each of its files, by path."""
    return {
        path.relative_to(tree).as_posix(): ast.parse(path.read_bytes())
        for path in tree.rglob("*.py")
    }


def test_every_package_of_the_repository_is_below_the_one_package(tree: Path) -> None:
    assert {*MOVED, PACKAGE} == set(FLOORS)
    assert {path.name for path in tree.iterdir() if path.is_dir()} == {PACKAGE}
    for name in FLOORS:
        here = REPOSITORY / name
        there = tree / PACKAGE / ("" if name == PACKAGE else name)
        modules = {path.relative_to(here) for path in here.rglob("*.py")}
        assert modules <= {path.relative_to(there) for path in there.rglob("*.py")}


def test_nothing_imports_a_package_without_the_prefix(parsed: dict[str, ast.Module]) -> None:
    names = {
        (path, name)
        for path, syntax in parsed.items()
        for name in imported(syntax)
        if name.partition(".")[0] in MOVED
    }
    assert names == set()


def test_no_string_names_a_module_without_the_prefix(
    tree: Path, parsed: dict[str, ast.Module]
) -> None:
    """Whatever looks like the name of one of our packages and a module in it."""
    packages = "|".join(path.name for path in tree.joinpath(PACKAGE).iterdir() if path.is_dir())
    name = re.compile(rf"(?:{packages})(?:\.[a-z_]+)+")
    names: set[str] = set()
    for path, syntax in parsed.items():
        for node in ast.walk(syntax):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                match = name.fullmatch(node.value)
                if match and (REPOSITORY / match[0].replace(".", "/")).with_suffix(".py").exists():
                    names.add(f"{path}: {node.value}")
    assert names == set()


def test_the_documents_of_the_demo_are_in_it(tree: Path) -> None:
    assert (tree / PACKAGE / "README.md").read_bytes() == (REPOSITORY / "README.md").read_bytes()
    assert (tree / PACKAGE / "docs/architecture.md").is_file()


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.name)
def test_what_a_deployment_starts_is_in_it(tree: Path, path: Path) -> None:
    text = path.read_text("utf-8")
    modules = set(re.findall(r'python"?, ?"?-m"?, ?"?([\w.]+)', text))
    for module in modules:
        assert (tree / module.replace(".", "/")).with_suffix(".py").is_file(), module
    assert modules or not re.search(r"python.{1,4}-m", text)


def test_two_modules_of_one_name_are_refused(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    folder = tmp_path / "tree"
    for name in (*MOVED, PACKAGE):
        (repository / name).mkdir(parents=True)
        (repository / name / "__init__.py").touch()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (repository / name).touch()
    (repository / PACKAGE / "publishing.py").touch()
    folder.mkdir()
    with pytest.raises(CannotLayOut, match=r"lightstream_rag/publishing would stand for"):
        lay_out(repository, folder)
