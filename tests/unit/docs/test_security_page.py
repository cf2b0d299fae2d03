"""The page about attacks names tests that there are, and every attack over HTTP."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/security.md").read_text("utf-8")
NAMED = re.compile(
    r"`((?:unit|integration|contract|e2e|containers)/[\w/]+\.py)`: ((?:`test_\w+`(?:, )?)+)"
)


def test_every_test_the_page_names_is_there() -> None:
    result = [
        (path, name)
        for path, names in NAMED.findall(PAGE)
        for name in re.findall(r"`(test_\w+)`", names)
    ]
    assert len(result) == len(re.findall(r"`test_\w+`", PAGE)) > 40
    absent = [
        f"{path}: {name}"
        for path, name in result
        if f"def {name}(" not in (ROOT / "tests" / path).read_text()
    ]
    assert absent == []


def test_every_attack_is_on_the_page() -> None:
    assert [f"S{number:02d}" for number in range(1, 24) if f"S{number:02d}" not in PAGE] == []
