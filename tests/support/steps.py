"""How many steps a function takes for a character, measured in CPU time against a step of the
interpreter.
"""

import time
from collections.abc import Callable, Iterator
from functools import cache

UNITS = (
    "](",
    "[",
    "]",
    "(",
    ")",
    "![",
    "!",
    "<",
    "<a",
    ">",
    "`",
    "``` ",
    "``",
    "```\n",
    "~~~",
    "*",
    "**",
    "_",
    "#",
    "# ",
    "|",
    "\n|-|-|\n",
    "|a",
    " ",
    "\n",
    "\n\n",
    " \n",
    "\t",
    "\r",
    '"',
    "'",
    "“",
    "«",
    "1.",
    "1, ",
    "-",
    "- a.md\n",
    "[1]",
    "[1",
    " [1, ",
    "a",
    "A.",
    "a b ",
    "Ab Cd ",
    "Ab. ",
    "Ab, ",
    "\\",
    "\\(",
    "&",
    "&#1",
    "{",
    '{"a":',
    '{"name": "a", ',
    "<|",
    "<|#|>",
    "entity<|#|>",
    '("entity"<|>',
    "<think>",
    "</think>",
    "[THINK]",
    "<|channel|>",
    "<|start|>",
    "<!--",
    "http://",
    "a@",
    "mailto:",
    "x_",
    "::",
    "? ",
    "... ",
    "中",
    "《",
    "又称中",
    "ア",
    "### References\n\n- [1] ",
    "\u200b",
    "\u00ad",
    "e\u0301",
    "\u0301",
    "\u2060",
    "&\u00ad",
    "/../",
    "[x](y) ",
    "[x]: <",
    "](<",
    "](a(",
    "=\n",
    "a\n=\n",
    "    a\n",
    "> ",
    "A (B) ",
    "0-",
    "a'",
)
"""Pieces that texts are made of which have cost filters and parsers much: marks that open and never
close, and runs.
"""

LINE = 1_500
"""Characters of a line in the texts that have lines."""


def hostile_texts(length: int) -> Iterator[tuple[str, str]]:
    """Yield each unit repeated up to that length, and the same in lines, with a name for both."""
    for unit in UNITS:
        yield repr(unit), (unit * length)[:length]
        line = unit * max(1, LINE // len(unit))
        yield f"{unit!r} in lines", f"{line}\n" * (length // len(line)) or line


def steps(call: Callable[[], object]) -> float:
    """Return how many steps of the interpreter take as much CPU time as the call."""
    begin = time.thread_time()
    call()
    return (time.thread_time() - begin) / _seconds_of_step()


@cache
def _seconds_of_step() -> float:
    """Return the CPU time of one turn of a loop, the least of several measurements."""
    turns = 100_000

    def measured() -> float:
        begin = time.thread_time()
        count = 0
        for turn in range(turns):
            count += turn & 1
        return (time.thread_time() - begin) / turns

    return min(measured() for _ in range(5))
