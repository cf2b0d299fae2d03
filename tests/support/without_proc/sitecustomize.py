"""Hides /proc from every Python that has this folder in PYTHONPATH, as on macOS; psutil, which has
other ways there, still sees it.
"""

import os
import sys
from collections.abc import Callable
from inspect import currentframe
from typing import Any, cast

HIDDEN = "/proc"


def _is_hidden(path: Any) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    name = os.fsdecode(cast("str | bytes", path))
    return (name == HIDDEN or name.startswith(f"{HIDDEN}/")) and not _asks_psutil()


def _asks_psutil() -> bool:
    frame = currentframe()
    while frame:
        if frame.f_globals.get("__name__", "").startswith("psutil"):
            return True
        frame = frame.f_back
    return False


def _hiding(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(path: Any, *arguments: Any, **options: Any) -> Any:
        if _is_hidden(path):
            raise FileNotFoundError(2, "No such file or directory", os.fsdecode(path))
        return function(path, *arguments, **options)

    return call


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and arguments and _is_hidden(arguments[0]):
        raise FileNotFoundError(2, "No such file or directory", os.fsdecode(arguments[0]))


os.stat, os.readlink = _hiding(os.stat), _hiding(os.readlink)
sys.addaudithook(_refuse)
