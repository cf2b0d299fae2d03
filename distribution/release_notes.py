"""Cuts the notes of a release out of CHANGELOG.md."""

import re

RELEASE = re.compile(r"^## \[v?(\d+\.\d+\.\d+[^\]]*)\]", re.MULTILINE)
SECTION = re.compile(r"^## ", re.MULTILINE)


class NoNotes(Exception):
    """The changelog says nothing of this release."""


def release_notes(changelog: str, version: str) -> str:
    """Return what has come since the release before: every section from the first one, or from that
    of this version where it stands, to the next release. Raises NoNotes.
    """
    release = next(
        (heading for heading in RELEASE.finditer(changelog) if heading[1] == version), None
    )
    section = release or SECTION.search(changelog)
    if section is None:
        raise NoNotes(f"CHANGELOG.md has no section for {version}")
    release_before = RELEASE.search(changelog, section.end())
    notes = changelog[section.start() : release_before.start() if release_before else None].strip()
    if "\n" not in notes:
        raise NoNotes(f"the section of {version} in CHANGELOG.md is empty")
    return f"# Lightstream {version}\n\n{notes}\n"
