"""Every command that the documentation names is there: of `lightstream`, of make, and modules that
are run.
"""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_command

from cli.main import app
from tests.unit.docs.test_docs import PAGES, ROOT

CODE = re.compile(r"```(?:sh|console)\n(.*?)```|`([^`\n]+(?:\n[^`\n]+)?)`", re.DOTALL)
COMMAND = re.compile(
    r"(?:^|\s)lightstream\s+([a-z_]+)(?:\s+(?!lightstream\b)([a-z_]+))?", re.MULTILINE
)
TARGET = re.compile(r"(?:^|&& )make\s+([a-z][a-z-]*)", re.MULTILINE)
MODULE = re.compile(r"python -m ((?:benchmarks|tests|operations|services)(?:\.\w+)*)")

GROUPS: dict[str, set[str]] = {
    name: set(getattr(command, "commands", {}))
    for name, command in getattr(get_command(app), "commands", {}).items()
}
"""Commands of `lightstream`, each with the commands that it has itself."""

TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))

NAMED = [page for page in PAGES if "decisions" not in page.parts and page.name != "CHANGELOG.md"]
"""Pages about what is; decisions and the changelog name commands of their day."""


def unknown(code: str) -> list[str]:
    """Return what a piece of code runs that is not there."""
    missing = [f"make {target}" for target in TARGET.findall(code) if target not in TARGETS]
    missing += [f"python -m {name}" for name in MODULE.findall(code) if find_spec(name) is None]
    for name, member in COMMAND.findall(code):
        if name not in GROUPS:
            missing.append(f"lightstream {name}")
        elif GROUPS[name] and member and member not in GROUPS[name]:
            missing.append(f"lightstream {name} {member}")
    return missing


@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_on_a_page_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    pieces = [block or span for block, span in CODE.findall(text)]
    assert [command for piece in pieces for command in unknown(piece)] == []


def test_a_command_that_nobody_has_is_found() -> None:
    assert unknown("lightstream fly\nlightstream budget fly") == [
        "lightstream fly",
        "lightstream budget fly",
    ]
    assert unknown("make fly && make test") == ["make fly"]
    assert unknown("python -m benchmarks.fly") == ["python -m benchmarks.fly"]
