"""What of the changelog goes with a release, and one version in every file that says it."""

import json
import tomllib

import pytest

from distribution.release_notes import NoNotes, release_notes
from runtime.version import VERSION
from tests.architecture.sources import REPOSITORY

CHANGELOG = """# Changelog

Words before.

## [Unreleased]

- coming

## 2026-11-25: a state of the branch

- seen

## [0.2.0] - 2026-11-01

- second

## [0.1.0] - 2026-10-01

- first
"""


def test_a_release_in_the_making_has_all_since_the_one_before() -> None:
    notes = release_notes(CHANGELOG, "0.3.0")
    assert notes.startswith("# Lightstream 0.3.0\n\n## [Unreleased]\n")
    assert "- coming" in notes and "- seen" in notes
    assert "second" not in notes and "Words before" not in notes


@pytest.mark.parametrize(
    ("version", "own_text", "other_text"),
    [("0.2.0", "second", "first"), ("0.1.0", "first", "second")],
)
def test_a_release_that_has_its_section_has_that_one(
    version: str, own_text: str, other_text: str
) -> None:
    notes = release_notes(CHANGELOG, version)
    assert own_text in notes and other_text not in notes and "coming" not in notes


@pytest.mark.parametrize("text", ["# Changelog\n", "# Changelog\n\n## [Unreleased]\n"])
def test_a_release_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(NoNotes, match=r"0\.3\.0"):
        release_notes(text, "0.3.0")


def test_the_changelog_of_the_project_has_notes() -> None:
    assert len(release_notes((REPOSITORY / "CHANGELOG.md").read_text("utf-8"), VERSION)) > 500


def test_programs_package_and_page_have_one_version() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    page = json.loads((REPOSITORY / "web/package.json").read_text("utf-8"))
    assert project["version"] == page["version"] == VERSION
