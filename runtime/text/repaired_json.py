"""Reads JSON with faults, as language models write it."""

import re
from typing import Any

MAX_BRACKETS = 200
"""Brackets of a text that is repaired. The repair of thousands of open ones takes seconds."""

_BRACKET = re.compile(r"[(\[{]")


def repaired_json(text: str) -> Any:
    """Return the value that the text means, None if it means none; of several values a list of
    them.
    """
    if len(_BRACKET.findall(text)) > MAX_BRACKETS:
        return None
    # Imported only here: few answers need it, and it brings many modules.
    import json_repair  # noqa: PLC0415

    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
