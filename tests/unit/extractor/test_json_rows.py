"""Reading a model's answer in JSON: every whole row is kept, whatever surrounds it; nothing
raises.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.names import clean_name
from services.extractor.domain.guidance import ExtractionConfig
from services.extractor.domain.json_rows import parse_json
from services.extractor.domain.rows import parse_rows

ZOE = '{"name": "Zoe", "type": "Person", "description": "A sailor"}'
TIE = (
    '{"source": "Zoe", "target": "Elm", "keywords": "trade, sea", "description": "Zoe sails from '
    'Elm"}'
)
WHOLE = f'{{"entities": [{ZOE}], "relationships": [{TIE}]}}'


def names(answer: str) -> list[str]:
    return [entity.name for entity in parse_json(answer)[0]]


def test_an_object_gives_the_same_as_rows() -> None:
    rows = (
        "entity<|#|>Zoe<|#|>Person<|#|>A sailor\nrelation<|#|>Zoe<|#|>Elm<|#|>trade, sea<|#|>Zoe "
        "sails from Elm"
    )
    assert parse_json(WHOLE) == parse_rows(rows)


@pytest.mark.parametrize(
    "answer",
    [
        f"```json\n{WHOLE}\n```",
        f"Here it is:\n{WHOLE}\nDone.",
        WHOLE.replace("}]", "},]").replace('sailor"}', 'sailor",}'),
        WHOLE[:-2],
        f'{{"entities": [{ZOE}], "relationships": [{TIE}, {{"source": "Zoe", "tar',
        (
            f'{{"entities": [{{"name": "Yan", "type": "person", "descr\n{ZOE}], "relationships": '
            f"[{TIE}]}}"
        ),
        f"[{ZOE}, {TIE}]",
        f"{ZOE}\n{TIE}",
        WHOLE.replace('"name"', '"entity_name"')
        .replace('"type"', '"entity_type"')
        .replace('"source"', '"src"'),
        WHOLE.replace('"trade, sea"', '["trade", "sea"]'),
        json.dumps(json.loads(WHOLE), indent=4),
    ],
)
def test_whole_rows_are_kept_whatever_surrounds_them(answer: str) -> None:
    entities, relations = parse_json(answer)
    assert [(e.name, e.type, e.description) for e in entities] == [("Zoe", "person", "A sailor")]
    assert [(r.source, r.target, r.keywords) for r in relations] == [
        ("Zoe", "Elm", ("trade", "sea"))
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"the angle \alpha", r"the angle \alpha"),
        (r"a \frac{1}{2} of \beta", r"a \frac{1}{2} of \beta"),
        ('she said "no" twice', 'she said "no" twice'),
        ("two\nlines", "two\nlines"),
        (r"caf\u00e9 and \u12", r"café and \u12"),
        (r"a \"quoted\" {\"x\": 1}", 'a "quoted" {"x": 1}'),
    ],
)
def test_texts_that_are_no_sound_json_are_read(text: str, read: str) -> None:
    entities, _ = parse_json(
        f'{{"entities": [{{"name": "A", "type": "t", "description": "{text}"}}, {ZOE}]}}'
    )
    assert [entity.description for entity in entities] == [read, "A sailor"]


@pytest.mark.parametrize(
    "answer", ["", "null", "[]", "{}", '{"entities": []}', '{"entities": null}', "sorry", "{" * 99]
)
def test_an_answer_without_rows_says_nothing(answer: str) -> None:
    assert parse_json(answer) == ((), ())


@pytest.mark.parametrize(
    "row",
    [
        '{"name": null, "type": "t", "description": "d"}',
        '{"name": "A", "type": "a/b", "description": "d"}',
        '{"name": "A", "type": "t", "description": ""}',
        '{"name": {"first": "A"}, "type": "t"}',
        '{"source": "A", "target": "A", "description": "d"}',
        '{"source": "A", "description": "d"}',
    ],
)
def test_a_row_that_breaks_a_rule_is_left_out_alone(row: str) -> None:
    assert names(f'{{"entities": [{row}, {ZOE}]}}') == ["Zoe"]
    assert parse_json(f"[{row}]") == ((), ())


def test_no_more_rows_are_taken_than_the_recipe_allows() -> None:
    rows = [{"name": f"n{n}", "type": "t", "description": "d"} for n in range(9)]
    ties = [
        {"source": "a", "target": f"n{n}", "keywords": "k", "description": "d"} for n in range(9)
    ]
    entities, relations = parse_json(
        json.dumps({"entities": rows, "relationships": ties}),
        ExtractionConfig(max_entities=3, max_records=5),
    )
    assert (len(entities), len(relations)) == (3, 2)


@given(st.text() | st.text(alphabet='{}[]",:\\ nametypdscri', max_size=80))
def test_no_answer_raises(answer: str) -> None:
    parse_json(answer)
    parse_json(WHOLE + answer)


texts = st.text(st.characters(exclude_characters="\b\f"), min_size=1, max_size=20)


@given(
    st.lists(texts, min_size=1, max_size=5),
    st.text(alphabet='{}[]",:x ', max_size=20),
    st.integers(0, 30),
)
def test_whole_rows_survive_malformed_neighbours_and_a_cut(
    texts: list[str], junk: str, cut: int
) -> None:
    rows = [json.dumps({"name": f"n {text}", "type": "t", "description": "d"}) for text in texts]
    answer = (
        '{"entities": ['
        + f", {junk}\n".join(rows)
        + ', {"name": "cut off here", "type": "t"'[: cut + 1]
    )
    assert set(names(answer)) >= {clean_name(f"n {text}") for text in texts}
