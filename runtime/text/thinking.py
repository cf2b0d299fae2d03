"""An answer without what its model thought aloud before it."""

import re

_THINKING = re.compile(r"\s*<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_REST = re.compile(r"^\s*</think>\s*$", re.MULTILINE | re.IGNORECASE)


def without_thinking(answer: str) -> str:
    """The answer itself. Thoughts stand at its beginning; their opening tag may be missing, or their end be cut off.

    The same tags further on belong to what the passage says.
    """
    if thought := _THINKING.match(answer):
        return answer[thought.end() :]
    rest = _REST.search(answer)
    return answer[rest.end() :] if rest else answer
