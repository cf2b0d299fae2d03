"""What is done with a long text, as the interpreter's profiler sees it: the real functions run."""

import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

FUNCTIONS = ("sanitize", "clean_text", "encodable", "sha256", "md5")
"""Functions of the project whose argument `text` is looked at."""

BUILTINS = {"encode", "decode", "openssl_sha256", "openssl_md5"}
"""Calls of the standard library: of a text itself, or by a function that holds it."""


@contextmanager
def long_text_work(length: int) -> Generator[Counter[str]]:
    """Yield how often each function got a text or bytes of at least `length`, by its name; calls on
    the thread of the event loop count once more under `<name> on the loop`.
    """
    counts: Counter[str] = Counter()
    loop_thread = threading.get_ident()

    def is_long(value: object) -> bool:
        return isinstance(value, str | bytes) and len(value) >= length

    def count(name: str) -> None:
        counts[name] += 1
        if threading.get_ident() == loop_thread:
            counts[f"{name} on the loop"] += 1

    def on_call(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_name in FUNCTIONS:
            if is_long(frame.f_locals.get("text")):
                count(frame.f_code.co_name)
        elif event == "c_call" and argument.__name__ in BUILTINS:
            holds_text = any(is_long(value) for value in frame.f_locals.values())
            if is_long(argument.__self__) or (holds_text and "openssl" in argument.__name__):
                count(argument.__name__)

    threading.setprofile(on_call)
    sys.setprofile(on_call)
    try:
        yield counts
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
