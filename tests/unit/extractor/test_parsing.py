"""An answer in another form than the one that was asked for is read all the same."""

import json

import pytest

from services.extractor.domain.guidance import DEFAULT, DELIMITER, ExtractionConfig
from services.extractor.domain.parsing import parse_answer

D = DELIMITER
JSON = ExtractionConfig(json=True)
ROWS = (
    f"entity{D}Zoe{D}Person{D}A sailor\nrelation{D}Zoe{D}Elm{D}trade{D}Zoe sails from "
    "Elm\n<|COMPLETE|>"
)
OBJECT = json.dumps(
    {
        "entities": [{"name": "Zoe", "type": "Person", "description": "A sailor"}],
        "relationships": [
            {
                "source": "Zoe",
                "target": "Elm",
                "keywords": "trade",
                "description": "Zoe sails from Elm",
            }
        ],
    }
)
TABLE = """Here they are:

| Name | Type | Description |
|------|:----:|-------------|
| **Zoe** | Person | A sailor |

| Source | Target | Relationship | Description |
| --- | --- | --- | --- |
| Zoe | Elm | trade | Zoe sails from Elm |
"""
OTHER_NAMES = json.dumps(
    [
        {"entity_name": "Zoe", "entity_type": "Person", "entity_description": "A sailor"},
        {
            "src_id": "Zoe",
            "tgt_id": "Elm",
            "relationship_keywords": "trade",
            "description": "Zoe sails from Elm",
        },
    ]
)


@pytest.mark.parametrize("config", [DEFAULT, JSON], ids=["rows", "json"])
@pytest.mark.parametrize(
    "answer",
    [
        ROWS,
        "\n".join(f"{number}. {row}" for number, row in enumerate(ROWS.splitlines(), 1)),
        "Sure!\n\n" + "\n".join(f"- **{row}**" for row in ROWS.splitlines()),
        f"```\n{ROWS}\n```",
        OBJECT,
        f"Here is the graph:\n```json\n{OBJECT}\n```",
        OTHER_NAMES,
        TABLE,
    ],
    ids=["rows", "numbered", "bullets", "fenced", "object", "fenced object", "list", "table"],
)
def test_every_form_gives_the_same(answer: str, config: ExtractionConfig) -> None:
    entities, relations = parse_answer(answer, config)
    assert [(entity.name, entity.type) for entity in entities] == [("Zoe", "person")]
    assert entities[0].description.strip("*") == "A sailor"
    assert [(tie.source, tie.target, tie.keywords) for tie in relations] == [
        ("Zoe", "Elm", ("trade",))
    ]


@pytest.mark.parametrize(
    "answer", ["", "Zoe is a sailor of Elm.", "| a | b |\n| 1 | 2 |", "<|COMPLETE|>", "{}"]
)
@pytest.mark.parametrize("config", [DEFAULT, JSON], ids=["rows", "json"])
def test_what_is_no_list_of_rows_gives_nothing(answer: str, config: ExtractionConfig) -> None:
    assert parse_answer(answer, config) == ((), ())


def test_the_last_row_of_an_answer_that_is_cut_is_left_out() -> None:
    answer = f"entity{D}Zoe{D}Person{D}A sailor\nentity{D}Yan{D}Person{D}A smi"
    assert [entity.name for entity in parse_answer(answer, DEFAULT, cut=True)[0]] == ["Zoe"]
    assert [entity.name for entity in parse_answer(answer, DEFAULT)[0]] == ["Zoe", "Yan"]
