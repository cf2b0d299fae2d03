"""Removes the thinking block that a model puts before its answer."""

import re

_THINKING = re.compile(r"\s*<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_REST = re.compile(r"^\s*</think>\s*$", re.MULTILINE | re.IGNORECASE)


def without_thinking(answer: str) -> str:
    """Return the answer without the thinking block at its beginning, whose opening tag or end may be missing.

    The same tags further on belong to what the passage says.
    """
    if thought := _THINKING.match(answer):
        return answer[thought.end() :]
    rest = _REST.search(answer)
    return answer[rest.end() :] if rest else answer
