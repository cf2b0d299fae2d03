"""On one graph each mode chooses what LightRAG 1.5.7 chooses, asked in an environment of its own:
see decision 61.

`make parity` installs it and runs this, in some four minutes. The suite holds us to a recording of
the same answers.
"""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.parity.invented import invented
from benchmarks.parity.recording import ASKED, FILE, SIZES, recorded
from benchmarks.parity.sides import MODES, of_ours, of_peer

PYTHON = Path(sys.prefix, "peer", "bin", "python")


@pytest.mark.parametrize("documents", SIZES)
async def test_entities_relations_and_chunks_are_those_of_lightrag_itself(documents: int) -> None:
    material = invented(documents, ASKED)
    theirs = of_peer(material, PYTHON)
    ours = await of_ours(material)
    differences = [
        (mode, question.text)
        for question, our_choice, their_choice in zip(material.questions, ours, theirs, strict=True)
        for mode in MODES
        if our_choice[mode] != their_choice[mode]
    ]
    assert len(theirs) == ASKED and differences == []
    assert json.loads(FILE.read_text("utf-8"))[str(documents)] == recorded(theirs)
