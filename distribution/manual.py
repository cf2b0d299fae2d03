"""Builds the documentation site from the pages as they stand: `python -m distribution.manual`
(`make site`).

Zensical sees every page at its place in the repository, so that a link that leads from one to
another there does so on the site. A link that leads nowhere fails the build.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from services.gateway.manual import DIGESTS, FOLDER

REPOSITORY = Path(__file__).resolve().parents[1]
SETTINGS = Path(__file__).with_name("mkdocs.yml")
GENERATOR = os.environ.get("ZENSICAL", str(REPOSITORY / ".venv/site/bin/zensical"))

FIRST_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**/*.md")
"""The pages of the site, with all that they lead to."""

LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)")
PROGRAM_LINK = re.compile(r"(\]\([^):#\s]+\.py)\)")
INLINE_SCRIPT = re.compile(r"<script(?![^>]*(?:src=|json))[^>]*>(.*?)</script>", re.DOTALL)


def pages(repository: Path) -> set[Path]:
    """Return the files of the site: the first pages, and whatever a link of a page leads to."""
    waiting = [page for pattern in FIRST_PAGES for page in repository.glob(pattern)]
    seen: set[Path] = set()
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            waiting += _targets(page) if page.suffix == ".md" else ()
    return seen


def _targets(page: Path) -> Iterator[Path]:
    for link in LINK.findall(page.read_text("utf-8")):
        target = (page.parent / link).resolve()
        if target.is_file():
            yield target


def lay_out(repository: Path, tree: Path) -> None:
    """Copy the files of the site to the same places below `tree`. A program becomes a text: nobody
    shall take it for a module of the package that the site stands in.
    """
    for path in pages(repository):
        copy = tree / path.relative_to(repository)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            copy.write_text(PROGRAM_LINK.sub(r"\1.txt)", path.read_text("utf-8")), "utf-8")
        else:
            shutil.copy2(path, copy.with_name(f"{copy.name}.txt") if path.suffix == ".py" else copy)


def script_digests(site: Path) -> list[str]:
    """Return the SHA-256 of every script that stands in a page, in base64, as a policy has it."""
    scripts = {
        script
        for page in site.rglob("*.html")
        for script in INLINE_SCRIPT.findall(page.read_text("utf-8"))
    }
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return sorted(base64.b64encode(digest).decode() for digest in digests)


def build(folder: Path) -> int:
    """Build the site into the folder, anew, and return the exit code of the generator."""
    with TemporaryDirectory(prefix="site-") as name:
        work = Path(name)
        shutil.copy2(SETTINGS, work)
        lay_out(REPOSITORY, work / "pages")
        command = [GENERATOR, "build", "--strict", "--config-file", work / SETTINGS.name]
        code = subprocess.run(command, cwd=work, check=False).returncode
        if code == 0:
            site = work / "site"
            (site / DIGESTS).write_text(json.dumps(script_digests(site)))
            shutil.rmtree(folder, ignore_errors=True)
            shutil.move(site, folder)
    return code


if __name__ == "__main__":
    sys.exit(build(FOLDER))
