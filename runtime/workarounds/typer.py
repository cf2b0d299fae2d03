"""typer 0.27.1: its help imported without what it never prints here.

What prints help imports rich's Markdown and tracebacks, which bring markdown-it and pygments, and
rich asks for attrs where it is installed: a third of the CPU of `--help`. Our help is not written
in Markdown, and our errors are no tracebacks. While it is imported here, stand-ins take the place
of these. Upstream: none found.
May go when `test_a_library_alone_imports_what_nobody_uses` fails for it
(`tests/unit/runtime/test_workarounds.py`).
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, cast

STANDINS = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
"""What is imported in vain, and the class of it that is named."""

ATTRS = "attr"
"""What rich does without where it is not installed."""


@contextmanager
def without_markdown() -> Generator[None]:
    """Keep Markdown and tracebacks from being loaded by imports inside the block; they can be
    imported afterwards.
    """
    modules = cast(dict[str, Any], sys.modules)
    for name, class_name in STANDINS.items():
        if name not in modules:
            modules[name] = ModuleType(name)
            setattr(modules[name], class_name, type(class_name, (), {}))
    modules.setdefault(ATTRS, None)
    try:
        yield
    finally:
        for name in STANDINS:
            if not hasattr(modules[name], "__file__"):
                del modules[name]
        if modules[ATTRS] is None:
            del modules[ATTRS]


def import_help() -> None:
    """Load what prints the help of commands and their usage errors."""
    with without_markdown():
        import_module("typer.rich_utils")
