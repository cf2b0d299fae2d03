"""On one graph each mode chooses what LightRAG 1.5.7 chooses, in the same order: see decision
61.
"""

import json
from pathlib import Path

import pytest

from benchmarks.parity.invented import invented
from benchmarks.parity.recording import ASKED, SIZES, recorded
from benchmarks.parity.sides import of_ours
from tests.support.shares import share

RECORDED = json.loads(Path(__file__).with_name("lightrag_1_5_7.json").read_text("utf-8"))


@pytest.mark.parametrize("documents", share(SIZES, daily=1))
async def test_entities_relations_and_chunks_are_those_of_lightrag(documents: int) -> None:
    material = invented(documents, ASKED)
    assert len({question.text for question in material.questions}) == ASKED
    ours = recorded(await of_ours(material))
    differences = [
        question.text
        for question, our_choice, their_choice in zip(
            material.questions, ours, RECORDED[str(documents)], strict=True
        )
        if our_choice != their_choice
    ]
    assert differences == []
