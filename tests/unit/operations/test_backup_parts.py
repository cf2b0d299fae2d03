"""A part of a backup takes along all that its events name beside the log."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from operations.backup.parts import write_part
from runtime.bus.records import Record


def ref(digit: str, workspace: str = "w") -> dict[str, Any]:
    return {"sha256": digit * 64, "size": 9, "parts": 1, "place": f"{workspace}.{digit * 64}"}


def test_long_texts_originals_and_figures_are_named(tmp_path: Path) -> None:
    body = {
        "document_id": "d",
        "blob": ref("a"),
        "original": ref("b"),
        "figures": [{"number": 1, "blob": ref("c")}, {"number": 2, "blob": ref("d", "x")}, "e"],
    }
    data = orjson.dumps({"data": body})
    moment = datetime(2026, 11, 28, tzinfo=UTC)
    records = [Record(1, moment, "kb.v1.w.d.DocumentAdded", {}, data)]
    places = [blob.place for blob in write_part(tmp_path, "part", records).blobs]
    # What an event names among the texts of another workspace is looked for by its hash alone.
    assert places == [*(ref(digit)["place"] for digit in "abc"), None]
