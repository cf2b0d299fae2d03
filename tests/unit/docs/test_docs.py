"""The documentation agrees with the code: every setting stands in it with its default, every link
leads somewhere.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo

from operations.configuration import SETTINGS
from runtime.environment_settings import EnvironmentSettings
from tests.architecture.sources import FLOORS, of_the_project

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = (*FLOORS, "benchmarks", "docs", "tests", "deploy")
SAMPLES = re.compile(r"answers_data/(\w+/)?texts/|benchmarks/reader/data/")
"""Documents that questions are asked about: what they say is not said of the project."""
PAGES = sorted(
    page
    for page in [
        *ROOT.glob("*.md"),
        *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")),
    ]
    if not SAMPLES.search(page.as_posix())
)
DECISIONS = [page for page in PAGES if page.parent.name == "decisions" and page.name != "README.md"]
REFERENCE = re.compile(
    r"\b[Dd]ecision \d+|\b[Dd]ecisions \d+(?:, \d+)*(?:,? and \d+)?|decisions/\d{4}"
)
SOURCES = {".py", ".md", ".toml", ".yml", ".yaml", ".sh", ".ts", ".tsx", ".in", ".conf"}
CONFIGURATION = (ROOT / "docs/configuration.md").read_text("utf-8")

ALL_SETTINGS = list(SETTINGS.values())

LINK = re.compile(r"\[[^\]]*\]\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def fields_of_its_own(settings: type[EnvironmentSettings]) -> dict[str, FieldInfo]:
    return {
        name: field
        for name, field in settings.model_fields.items()
        if name in settings.__annotations__
    }


def row(name: str, field: FieldInfo) -> str:
    """How the table row of a setting begins: its variables, then its default."""
    alias = field.validation_alias
    names = (
        [str(choice) for choice in alias.choices]
        if isinstance(alias, AliasChoices)
        else [name.upper()]
    )
    default = (
        field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
    )
    default = "" if default is None else default
    text = f"{default:g}" if isinstance(default, float) else str(default)
    return (
        f"| {', '.join(f'`{variable}`' for variable in names)} | "
        f"{f'`{text}`' if text else 'empty'} |"
    )


@pytest.mark.parametrize("settings", ALL_SETTINGS)
def test_every_setting_is_documented_with_its_default(settings: type[EnvironmentSettings]) -> None:
    rows = [row(name, field) for name, field in fields_of_its_own(settings).items()]
    assert [row for row in rows if row not in CONFIGURATION] == []


def test_no_setting_is_documented_that_does_not_exist() -> None:
    rows = {
        row(name, field)
        for settings in ALL_SETTINGS
        for name, field in fields_of_its_own(settings).items()
    }
    tables = CONFIGURATION.split("## Other variables")[0]
    documented_rows = set(re.findall(r"^\| `[^|]+ \| [^|]+ \|", tables, re.MULTILINE))
    assert documented_rows == rows


def anchor(heading: str) -> str:
    """The fragment GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    dead: list[str] = []
    for path, fragment in LINK.findall(page.read_text("utf-8")):
        target = page.parent / path if path else page
        anchors = (
            {anchor(result) for result in HEADING.findall(target.read_text("utf-8", "replace"))}
            if target.is_file()
            else set[str]()
        )
        if not target.exists() or (fragment and fragment not in anchors):
            dead.append(f"{path}#{fragment}")
    assert dead == []


def decision_number(page: Path) -> int:
    """Return the number that a decision's file name begins with."""
    return int(page.name[:4])


def named_decisions(source: str) -> set[int]:
    """Return the numbers of all decisions that a text names."""
    matches = list(REFERENCE.finditer(source))
    return {int(number) for match in matches for number in re.findall(r"\d+", match.group())}


def test_every_decision_has_a_number_of_its_own_and_is_in_the_index() -> None:
    numbers = [decision_number(page) for page in DECISIONS]
    index = (ROOT / "docs/decisions/README.md").read_text("utf-8")
    assert len(numbers) == len(set(numbers))
    assert [page.name for page in DECISIONS if index.count(f"({page.name})") != 1] == []


def test_every_decision_that_is_named_exists() -> None:
    """Numbers of decisions that were taken into another page are gone: nothing names them."""
    numbers = {decision_number(page) for page in DECISIONS}
    sources = [
        path
        for path in of_the_project()
        if path.suffix in SOURCES and not SAMPLES.search(path.as_posix())
    ]
    decisions_by_path = {path: named_decisions(path.read_text("utf-8")) for path in sources}
    assert {
        str(path): absent
        for path, numbers_named in decisions_by_path.items()
        if (absent := numbers_named - numbers)
    } == {}


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.name)
def test_every_decision_says_its_status_its_date_and_what_enforces_it(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.search(
        r"^Status: (accepted|superseded by \[.+\]\(.+\)) · Date: \d{4}-\d\d-\d\d$",
        text,
        re.MULTILINE,
    )
    (enforcers,) = re.findall(r"^Enforced by: (.+)$", text, re.MULTILINE)
    files = re.findall(r"`([^`]+)`", enforcers)
    assert files and [file for file in files if not (ROOT / file).exists()] == []


def test_the_walk_from_a_request_to_an_answer_names_functions_that_are_there() -> None:
    steps = re.findall(
        r"`([\w/]+\.py)`\s+·\s+`(\w+)`", (ROOT / "docs/architecture.md").read_text("utf-8")
    )
    definitions = {(path, name) for path, _ in steps for name in _defined(ROOT / path)}
    assert len(steps) >= 20 and [step for step in steps if step not in definitions] == []


def _defined(module: Path) -> Iterator[str]:
    """Yield the names of a module's classes, functions and constants."""
    for node in ast.parse(module.read_text("utf-8")).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
