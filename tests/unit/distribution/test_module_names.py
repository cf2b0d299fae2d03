"""What the wheel's build makes of a source file."""

import ast

import pytest

from distribution.module_names import CannotPrefix, OwnModules, prefixed

MODULES = OwnModules(
    "rag",
    frozenset({"cli", "cli.main", "services.chunker.main", "services.query", "runtime.clock"}),
)


def rewritten(source: str) -> str:
    return prefixed("services/file.py", source.encode(), MODULES).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from runtime.clock import now\n", "from rag.runtime.clock import now\n"),
        ("from cli import main\n", "from rag.cli import main\n"),
        (
            "from cli import (\n    ask,\n    log,\n)\n",
            "from rag.cli import (\n    ask,\n    log,\n)\n",
        ),
        ("import runtime.clock as c\n", "import rag.runtime.clock as c\n"),
        ("import cli\n", "import rag.cli as cli\n"),
        ("import os, cli, re\n", "import os, rag.cli as cli, re\n"),
        ("def f():\n    from cli import a  # no\n", "def f():\n    from rag.cli import a  # no\n"),
        ("é = 1; from cli import a\n", "é = 1; from rag.cli import a\n"),
        ("x = 1\r\nfrom cli import a\r\n", "x = 1\r\nfrom rag.cli import a\r\n"),
    ],
)
def test_an_import_of_the_project_gets_the_prefix(before: str, after: str) -> None:
    assert rewritten(before) == after


@pytest.mark.parametrize(
    "source",
    [
        "from client import x\n",
        "from services_of_others import x\n",
        "import clip\n",
        "from rag.errors import X\n",
        "import runtime_of_others.x\n",
        "cli = 'cli'\n",
        "service = f'services/{name}'\n",
        "state = 'services.nobody'\n",
        "key = f'{service}.main'\n",
        "# from cli import main\n",
        '"""Read `services.chunker.main`, and cli."""\n',
    ],
)
def test_what_is_no_module_of_the_project_stays(source: str) -> None:
    assert rewritten(source) == source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('x = "services.chunker.main"\n', 'x = "rag.services.chunker.main"\n'),
        ("x = r'runtime.clock'\n", "x = r'rag.runtime.clock'\n"),
        ('x = f"services.{name}.main"\n', 'x = f"rag.services.{name}.main"\n'),
        ("x = f'services.chunker.{name}'\n", "x = f'rag.services.chunker.{name}'\n"),
        ('run(python, "-m", "cli", "up")\n', 'run(python, "-m", "rag.cli", "up")\n'),
        ('c = [p, "-m", "runtime.clock"]\n', 'c = [p, "-m", "rag.runtime.clock"]\n'),
        ('"""`python -m cli` does."""\n', '"""`python -m rag.cli` does."""\n'),
        ('f"{x}: python -m cli {y}"\n', 'f"{x}: python -m rag.cli {y}"\n'),
        ('"python -m pip", "-m", "pip"\n', '"python -m pip", "-m", "pip"\n'),
    ],
)
def test_a_string_that_names_a_module_gets_the_prefix(before: str, after: str) -> None:
    assert rewritten(before) == after


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("import runtime.clock\n", r"services/file.py:1: `import runtime.clock` binds `runtime`"),
        ("from \\\n    cli import main\n", "write `from cli import …` on one line"),
        ('\nx = "runtime." "clock"\n', "services/file.py:2: write the name 'runtime.clock' as one"),
    ],
)
def test_what_has_no_prefixed_form_is_refused_with_its_place(source: str, advice: str) -> None:
    with pytest.raises(CannotPrefix, match=advice):
        rewritten(source)


def test_lines_keep_their_numbers() -> None:
    source = "from cli import a\n\n\nimport cli\nx = 'runtime.clock'\ndef f():\n    return a\n"
    before = ast.parse(source)
    after = ast.parse(rewritten(source))
    assert [node.lineno for node in before.body] == [node.lineno for node in after.body]
