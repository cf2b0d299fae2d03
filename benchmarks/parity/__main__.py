"""Whether questions find in one graph what LightRAG finds in it, in the same order.

    YARDSTICK_DATA=FOLDER python -m benchmarks.parity --peer-python PYTHON [--documents 200]
    [--asked 300]

Both sides are given the same chunks, entities, relations and vectors through their stores' own
calls, and the same questions with the same keywords. PYTHON is that of a virtual environment with
`lightrag-hku==1.5.7`. Prints, for each mode, how many questions have equal entities, relations and
chunks, the share whose passage is among the chunks of each side, and the first differences.
Questions are left out for which two results of a search are equally near.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring.tables import table
from benchmarks.parity.material import Material, of_documents
from benchmarks.parity.sides import MODES, Found, of_ours, of_peer

KINDS = ("entities", "relations", "chunks")


def main() -> None:
    """Ask both sides and print what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--asked", type=int, default=300)
    parser.add_argument("--peer-python", type=Path, required=True)
    parser.add_argument("--shown", type=int, default=3, help="differences per mode")
    given = parser.parse_args()
    material = of_documents(given.documents, given.asked)
    print(
        f"{len(material.chunks)} chunks, {len(material.entities)} entities, "
        f"{len(material.relations)} relations, "
        f"{len(material.questions)} questions",
        flush=True,
    )
    peer = of_peer(material, given.peer_python.absolute())
    ours = asyncio.run(of_ours(material))
    print(compared(material, ours, peer))
    print("\n".join(differences(material, ours, peer, given.shown)))


def compared(
    material: Material, ours: Sequence[dict[str, Found]], peer: Sequence[dict[str, Found]]
) -> str:
    """A row for each mode: equal lists, and evidence found."""
    rows: list[list[str]] = []
    for mode in MODES:
        equal = Counter(
            kind
            for mine, theirs in zip(ours, peer, strict=True)
            for kind, one, other in zip(KINDS, mine[mode], theirs[mode], strict=True)
            if one == other
        )
        shares = [evidence(material, [each[mode] for each in side]) for side in (ours, peer)]
        rows.append(
            [mode, *(str(equal[kind]) for kind in KINDS), *(f"{share:.2f}" for share in shares)]
        )
    return table(["mode", *(f"equal {kind}" for kind in KINDS), "passage found", "LightRAG"], rows)


def evidence(material: Material, result: Sequence[Found]) -> float:
    """The share of questions whose titled passage is among the chunks."""
    hits = sum(
        any(question.title in material.chunks[chunk] for chunk in chunks)
        for question, (_, _, chunks) in zip(material.questions, result, strict=True)
    )
    return hits / len(result)


def differences(
    material: Material,
    ours: Sequence[dict[str, Found]],
    peer: Sequence[dict[str, Found]],
    most: int,
) -> list[str]:
    """The first differences of each mode, a line each."""
    lines: list[str] = []
    for mode in MODES:
        shown = 0
        for question, mine, theirs in zip(material.questions, ours, peer, strict=True):
            for kind, one, other in zip(KINDS, mine[mode], theirs[mode], strict=True):
                if one != other and shown < most:
                    shown += 1
                    place = next(
                        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1
                    )
                    lines.append(
                        f"{mode} {kind} {question.text!r}: {len(one)} and {len(other)} of "
                        f"LightRAG's, from {place}: "
                        f"{one[place : place + 2]} and {other[place : place + 2]}"
                    )
    return lines


if __name__ == "__main__":
    main()
