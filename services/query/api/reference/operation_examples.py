"""An example answer of each route under `/operations`."""

from typing import Any

_LETTER: dict[str, Any] = {
    "number": 7,
    "at": "2026-11-21T12:07:18.120000Z",
    "stage": "chunker",
    "consumer": "chunker",
    "reason": "part 0 of the text is not in KB_BLOBS",
    "sequence": 41,
    "subject": "kb.v1.default.port.DocumentAdded",
}
_STATE = {"previous": 1, "candidate": None, "cursor": 412, "head": 412, "lag": 0, "rate": 0.0, "state": "current"}

OPERATION_EXAMPLES: dict[str, Any] = {
    "GET /operations/dead_letters": {"dead_letters": [_LETTER], "total": 1},
    "GET /operations/dead_letters/{number}": {**_LETTER, "data": '{"specversion": "1.0"}'},
    "POST /operations/dead_letters/redrive": {"redriven": [7], "obsolete": []},
    "POST /operations/dead_letters/drop": {"dropped": [_LETTER]},
    "GET /operations/projections": {
        "projections": [{"projection": "graph", "generation": 2, "why": "", **_STATE}],
        "rebuild": None,
    },
}
