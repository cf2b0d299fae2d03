"""LightRAG's answers about the invented graphs, recorded: of each list its length and a hash of its
items in order.

    python -m benchmarks.parity.recording --peer-python PYTHON

Writes `tests/unit/query/retrieval/lightrag_1_5_7.json`, which a test holds our answers to. The
graphs have no ties, so that equal means equal.
"""

import argparse
import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from benchmarks.parity.invented import invented
from benchmarks.parity.sides import MODES, Found, of_peer

SIZES = (200, 1000)
"""Documents."""
ASKED = 300
"""Questions for each size."""
FILE = Path("tests/unit/query/retrieval/lightrag_1_5_7.json")

Recorded = list[list[list[str]]]
"""For each question and mode, of entities, relations and chunks, the length and the hash."""


def recorded(result: Sequence[dict[str, Found]]) -> Recorded:
    """Return what stands in the file for these answers."""
    return [[[_digest(items) for items in each[mode]] for mode in MODES] for each in result]


def _digest(items: Sequence[object]) -> str:
    return f"{len(items)} {blake2b(json.dumps(items).encode(), digest_size=4).hexdigest()}"


def main() -> None:
    """Ask LightRAG and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer-python", type=Path, required=True)
    python = parser.parse_args().peer_python.absolute()
    lines = [
        f'"{size}": {_lines(recorded(of_peer(invented(size, ASKED), python)))}' for size in SIZES
    ]
    FILE.write_text("{" + ",\n".join(lines) + "}\n", "utf-8")


def _lines(of_questions: Recorded) -> str:
    return "[\n" + ",\n".join(map(json.dumps, of_questions)) + "\n]"


if __name__ == "__main__":
    main()
