"""One line for each route, as lists of routes show them."""

import re
from typing import Any

CLAUSE_END = re.compile(r"[.:;](?=\s|$)|, as |, which ")
"""What ends the first clause of a description."""

SHORTEST = 3
"""Words of a clause that says enough."""


def summary(description: str) -> str:
    """Return the first clause of a route's description as one line, without marks of code."""
    line = " ".join(description.split()).replace("`", "")
    clause = CLAUSE_END.split(line, maxsplit=1)[0]
    is_short = clause.count(" ") < SHORTEST - 1
    return line.partition(". ")[0].rstrip(".") if is_short else clause


def with_summaries(document: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI document with a summary in words for each route, out of its description:
    the framework takes the names of our functions.
    """
    for operations in document["paths"].values():
        for operation in operations.values():
            if description := operation.get("description"):
                operation["summary"] = summary(description)
    return document
