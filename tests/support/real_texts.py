"""Real prose that is on every machine with Python: its language reference and what its modules say
of themselves.
"""

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

SHORTEST = 250
"""Characters of a module's description that is long enough to be a document."""


def write(folder: Path) -> int:
    """Write the texts as files below `folder`; gives how many."""
    result = {**dict(_reference()), **dict(_modules())}
    for name, text in result.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return len(result)


def _reference() -> Iterator[tuple[str, str]]:
    for name, text in topics.items():
        yield f"reference/{name}.rst", text


def _modules() -> Iterator[tuple[str, str]]:
    deps = Path(sysconfig.get_path("stdlib"))
    for path in sorted((*deps.glob("*.py"), *deps.glob("[a-z]*/*.py"))):
        if path.parent.name in {"site-packages", "dist-packages", "test"}:
            continue
        text = ast.get_docstring(ast.parse(path.read_bytes())) or ""
        if len(text) >= SHORTEST:
            yield f"modules/{'.'.join(path.relative_to(deps).with_suffix('').parts)}.txt", text
