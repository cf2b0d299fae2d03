"""Reading rows in the form that older prompts asked for."""

import pytest

from services.extractor.domain.guidance import DELIMITER
from services.extractor.domain.rows import parse_rows

SOUND = f"entity{DELIMITER}Zoe{DELIMITER}person{DELIMITER}text"


def names(answer: str) -> list[str]:
    return [entity.name for entity in parse_rows(answer)[0]]


OLDER = '("entity"<|>"Zoe"<|>"person"<|>"A sailor (old)")##\n("entity"<|>Elm<|>geo<|>A port)'
OLDER_TIE = '("relationship"<|>"Zoe"<|>Elm<|>"Zoe sails from Elm"<|>"sea, trade"<|>8)'


@pytest.mark.parametrize(
    "answer",
    [
        f'{OLDER}##\n{OLDER_TIE}##("content_keywords"<|>"ships")<|COMPLETE|>',
        f"{OLDER}##{OLDER_TIE}",
        f"{OLDER}\n{OLDER_TIE}\n",
        f"{OLDER}{OLDER_TIE[:-1]}",
        f"{OLDER}##{OLDER_TIE.replace('<|>8', '')}<|COMPLETE|>",
        f"{OLDER}##{OLDER_TIE}".replace("<|>", " <|> ").replace('("', "( '").replace('"<', "' <"),
    ],
)
def test_the_older_form_is_understood(answer: str) -> None:
    entities, (relation,) = parse_rows(answer)
    assert [(e.name, e.type) for e in entities] == [("Zoe", "person"), ("Elm", "geo")]
    assert entities[0].description.strip("'") == "A sailor (old)"
    assert (relation.source, relation.target, relation.keywords) == ("Zoe", "Elm", ("sea", "trade"))
    assert relation.description == "Zoe sails from Elm"
    assert relation.weight == (8.0 if "8" in answer else 1.0)


@pytest.mark.parametrize("remainder", ["|>", "<|", ">", "<", "|", "<>", "<||>"])
def test_a_delimiter_of_the_older_form_may_lose_a_part_behind_a_quotation_mark(
    remainder: str,
) -> None:
    entity = '("entity"<|>"Zoe"<|>"person"<|>"A sailor (old), > 60 | retired")'
    answer = f"{OLDER_TIE.replace('<|>8', f'{remainder}8')}##{entity.replace('<|>', remainder, 2)}"
    if remainder not in ("|>", "<|", "<||>"):  # where a record begins more than one mark is needed
        answer = answer.replace(f'"entity"{remainder}', '"entity"<|>')
    entities, (relation,) = parse_rows(answer)
    assert [(e.name, e.description) for e in entities] == [
        ("Zoe", "A sailor (old), > 60 | retired")
    ]
    assert (relation.source, relation.target, relation.weight) == ("Zoe", "Elm", 8.0)
    assert (relation.description, relation.keywords) == ("Zoe sails from Elm", ("sea", "trade"))


def slips() -> set[str]:
    """The delimiter with one of its marks lost, exchanged or written twice."""
    whole = "<|>"
    lost = {whole[:place] + whole[place + 1 :] for place in range(3)}
    exchanged = {whole[:place] + mark + whole[place + 1 :] for place in range(3) for mark in "<|>"}
    doubled = {whole[:place] + mark + whole[place:] for place in range(4) for mark in "<|>"}
    return (lost | exchanged | doubled) - {whole}


ENTITY_ROW = '("entity"<|>"Zoe"<|>"person"<|>"A sailor")'


@pytest.mark.parametrize("slip", sorted(slips()))
@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("row", [ENTITY_ROW, OLDER_TIE.replace("Elm<", '"Elm"<')])
def test_no_slip_of_one_mark_at_any_delimiter_loses_a_row(row: str, place: int, slip: str) -> None:
    parts = row.split("<|>")
    if place >= len(parts) - 1:
        return
    slipped = slip.join(("<|>".join(parts[: place + 1]), "<|>".join(parts[place + 1 :])))
    assert parse_rows(slipped)[:2] == parse_rows(row)[:2]
    beside = f"{slipped}##{OLDER}"
    assert names(beside)[-2:] == ["Zoe", "Elm"]


@pytest.mark.parametrize("slip", ["|>", "<|", "<>", "||>", "<||"])
def test_a_row_without_quotation_marks_is_read_past_a_slip(slip: str) -> None:
    for row in (ENTITY_ROW, OLDER_TIE):
        plain = row.replace('"', "")
        for place in range(plain.count("<|>")):
            parts = plain.split("<|>")
            slipped = slip.join(("<|>".join(parts[: place + 1]), "<|>".join(parts[place + 1 :])))
            assert parse_rows(slipped)[:2] == parse_rows(plain)[:2], slipped


@pytest.mark.parametrize("text", ["<5 % of it", "> 60", "a || b, x >> y", "#1 of all", "<>"])
def test_marks_inside_of_a_text_stay(text: str) -> None:
    for row in (f'("entity"<|>"Zoe"<|>"person"<|>"{text}")', f"(entity<|>Zoe<|>person<|>{text})"):
        assert [entity.description for entity in parse_rows(row)[0]] == [text]


@pytest.mark.parametrize(
    ("strength", "weight"),
    [("0.5", 0.5), ('"9"', 9.0), ("1e9", 1.0), ("999", 100.0), ("0", 1.0), ("-3", 1.0), ("", 1.0)],
)
def test_the_strength_of_a_relation_in_the_older_form_is_its_weight(
    strength: str, weight: float
) -> None:
    (relation,) = parse_rows(OLDER_TIE.replace("8", strength))[1]
    assert (relation.keywords, relation.description, relation.weight) == (
        ("sea", "trade"),
        "Zoe sails from Elm",
        weight,
    )


def test_rows_of_both_forms_stand_in_one_answer() -> None:
    assert sorted(
        names(f"{SOUND.replace('Zoe', 'Yan')}\n{OLDER}##\n{SOUND.replace('Zoe', 'Ann')}")
    ) == [
        "Ann",
        "Elm",
        "Yan",
        "Zoe",
    ]
