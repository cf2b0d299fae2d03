"""Reading a model's answer: what is sound is kept, what can be repaired is repaired, nothing
raises.
"""

import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.names import MAX_BYTES, MAX_CHARACTERS, clean_name, clean_text
from runtime.text.reasoning import split_reasoning
from services.extractor.domain import row_collector
from services.extractor.domain.guidance import DELIMITER, ExtractionConfig
from services.extractor.domain.json_rows import parse_json
from services.extractor.domain.row_collector import MAX_DESCRIPTION
from services.extractor.domain.rows import parse_rows

D = DELIMITER
SOUND = f"entity{D}Zoe{D}person{D}text"


def names(answer: str) -> list[str]:
    return [entity.name for entity in parse_rows(answer)[0]]


def pairs(answer: str) -> list[tuple[str, str]]:
    return [(relation.source, relation.target) for relation in parse_rows(answer)[1]]


def type_of(kind: str) -> str | None:
    entities, _ = parse_rows(f"entity{D}A{D}{kind}{D}text")
    return entities[0].type if entities else None


def test_rows_become_entities_and_relations() -> None:
    answer = (
        f"entity{D}Alice{D}Person{D}She paints\nrelation{D}Alice{D}Bob{D}art, love{D}She paints "
        "Bob\n<|COMPLETE|>"
    )
    (entity,), (relation,) = parse_rows(answer)
    assert (entity.name, entity.type, entity.description) == ("Alice", "person", "She paints")
    assert (relation.source, relation.target, relation.keywords) == (
        "Alice",
        "Bob",
        ("art", "love"),
    )
    assert (relation.description, relation.weight) == ("She paints Bob", 1.0)


def test_an_entity_row_with_five_fields_is_a_relation() -> None:
    assert pairs(f"entity{D}Alice{D}Mars Base{D}works at{D}text") == [("Alice", "Mars Base")]


@pytest.mark.parametrize("end", ["Alice", " alice ".title(), '"Alice"', "《Alice》"])
def test_a_relation_of_a_thing_with_itself_is_dropped(end: str) -> None:
    assert pairs(f"relation{D}Alice{D}{end}{D}is{D}text") == []


@pytest.mark.parametrize(
    ("kind", "type_name"),
    [
        ("Person", "person"),
        ("Natural Object", "naturalobject"),
        ("a,b", "a"),
        ("a/b", None),
        ("<type>", None),
        ("it's", None),
        ("", None),
        ("__proto__", None),
        ("constructor", None),
        ("Prototype", None),
    ],
)
def test_types_are_single_lower_case_words(kind: str, type_name: str | None) -> None:
    assert type_of(kind) == type_name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("“苹果 公司”", "苹果公司"),
        ("《红楼梦》", "红楼梦"),
        ('"O\'Neil"', "O'Neil"),
        ("12", ""),
        ("123", "123"),
        ("1.2", ""),
        ("1.2.34", "1.2.34"),
        ("A—B", "A-B"),
        ("（a）", "(a)"),
        ("中文 abc", "中文abc"),
        ("new\xa0york", "new york"),
        ("ＡＢＣ１", "ABC1"),
        ("<p>Rome</p><br/>", "Rome"),
        ("R&amp;D", "R&D"),
        ("  ", ""),
    ],
)
def test_names_are_written_in_one_way(spelling: str, name: str) -> None:
    assert clean_name(spelling) == name


def test_a_long_name_is_cut_at_a_character() -> None:
    (entity,), _ = parse_rows(f"entity{D}{'n' * 300}{D}person{D}text")
    assert entity.name == "n" * MAX_CHARACTERS
    assert clean_name("文" * 300) == "文" * (MAX_BYTES // 3)


@given(st.text())
def test_cleaning_a_name_is_bounded_and_never_raises(text: str) -> None:
    name = clean_name(text)
    assert len(name) <= MAX_CHARACTERS
    assert len(name.encode()) <= MAX_BYTES
    assert clean_text(text) == clean_text(text).strip()


BROKEN = [
    "<|##|>",
    "<|#||#|>",
    r"<|\#|>",
    "<|>",
    "<||>",
    "<X|#|>",
    "<|#|Y>",
    "<||#||>",
    "<#>",
    "<#|>",
    "<|#>",
    "<X#|>",
    "<|#X>",
    "<|#|",
    "<|#||",
    "<|#:",
    "<||#>",
    "|#|>",
    "<|#|>|",
    "||#||",
]


@pytest.mark.parametrize("delimiter", BROKEN)
def test_a_delimiter_that_is_spelt_wrong_is_repaired(delimiter: str) -> None:
    entities, relations = parse_rows(delimiter.join(["entity", "Zoe", "person", "text"]))
    assert [(e.name, e.type, e.description) for e in entities] == [("Zoe", "person", "text")]
    assert relations == ()


@pytest.mark.parametrize("delimiter", BROKEN)
def test_one_wrong_delimiter_among_sound_ones_is_repaired(delimiter: str) -> None:
    answer = f"relation{D}Zoe{delimiter}Yan{D}love{D}text"
    (relation,) = parse_rows(answer)[1]
    assert (relation.source, relation.target, relation.keywords) == ("Zoe", "Yan", ("love",))


@pytest.mark.parametrize("kind", ["entity", "relation", "relationship", "ENTITY"])
def test_rows_glued_together_are_all_kept(kind: str) -> None:
    tail = f"B{D}person{D}two" if "entity" in kind.lower() else f"B{D}C{D}love{D}two"
    entities, relations = parse_rows(f"entity{D}A{D}person{D}one{D}{kind}{D}{tail}")
    assert [e.name for e in entities] == (["A", "B"] if "entity" in kind.lower() else ["A"])
    assert len(relations) == (0 if "entity" in kind.lower() else 1)


@pytest.mark.parametrize("completion_mark", ["<|COMPLETE|>", "<|complete|>", ""])
def test_the_mark_of_completion_ends_a_row_and_may_be_missing(completion_mark: str) -> None:
    assert names(
        f"{SOUND}{completion_mark}entity{D}Yan{D}person{D}text" if completion_mark else SOUND
    ) == (["Zoe", "Yan"] if completion_mark else ["Zoe"])


@pytest.mark.parametrize("kind", ['"entity"', "- entity", "**Entity**", "1. entity"])
def test_a_kind_may_be_dressed_up(kind: str) -> None:
    assert names(f"{kind}{D}Zoe{D}person{D}text") == ["Zoe"]


@pytest.mark.parametrize(
    "row",
    [
        f"entity{D}Zoe{D}person",
        f"entity{D}{D}person{D}text",
        f"entity{D}Zoe{D}person{D}",
        f"thing{D}Zoe{D}person{D}text",
        f"relation{D}A{D}B{D}text",
        f"relation{D}A{D}B{D}k{D}text{D}5{D}6",
        "Sure, here is the list:",
        "```",
        "",
    ],
)
def test_a_row_that_cannot_be_read_is_left_out_alone(row: str) -> None:
    entities, relations = parse_rows(f"{row}\n{SOUND}\n{row}\nrelation{D}Zoe{D}Yan{D}love{D}text")
    assert [e.name for e in entities] == ["Zoe"]
    assert [(r.source, r.target) for r in relations] == [("Zoe", "Yan")]


def test_keywords_are_split_at_commas_of_both_widths_and_stand_once() -> None:
    (relation,) = parse_rows(f"relation{D}A{D}B{D}love，art, love , {D}text")[1]
    assert relation.keywords == ("love", "art")


def test_of_a_name_or_pair_that_comes_twice_the_first_row_counts() -> None:
    assert [e.description for e in parse_rows(f"{SOUND}\nentity{D}Zoe{D}place{D}other")[0]] == [
        "text"
    ]


@settings(max_examples=300)
@given(st.text())
def test_no_answer_raises(answer: str) -> None:
    parse_rows(answer)


fragments = st.lists(
    st.sampled_from(
        [D, *BROKEN, "entity", "relation", "\n", "A", "文", '"', "<think>", "<|COMPLETE|>", " "]
    )
)


@settings(max_examples=300)
@given(fragments.map("".join))
def test_no_mixture_of_markers_raises_and_all_that_is_kept_is_whole(answer: str) -> None:
    entities, relations = parse_rows(answer)
    assert all(e.name and e.type and e.description for e in entities)
    assert all(r.source and r.target and r.description and r.source != r.target for r in relations)


words = st.text("abcdefgh ", min_size=3, max_size=20).map(str.strip).filter(bool)
rows = st.lists(
    st.tuples(words.map(lambda word: f"n{word}"), words),
    min_size=1,
    max_size=6,
    unique_by=lambda row: row[0],
)
garbage = st.text(st.characters(exclude_characters="\n\r<>|#"), max_size=40).map(
    lambda text: text.replace("entity", "")
)


@settings(max_examples=200)
@given(rows, st.lists(garbage, max_size=6), st.randoms(use_true_random=False))
def test_sound_rows_survive_whatever_stands_between_them(
    rows: list[tuple[str, str]], junk: list[str], r: object
) -> None:
    lines = [f"entity{D}{name}{D}thing{D}{text}" for name, text in rows] + junk
    r.shuffle(lines)  # type: ignore[attr-defined]
    assert set(names("\n".join(lines))) == {clean_name(name) for name, _ in rows}


@pytest.mark.parametrize(
    "delimiter", [" | ", "|", "\t", "||", "<SEP>", "<|", " :: ", "<tuple>", ";;"]
)
def test_another_mark_in_the_place_of_every_delimiter_is_understood(delimiter: str) -> None:
    entities, relations = parse_rows(
        f"{delimiter.join(['entity', 'Zoe', 'person', 'text'])}\n{delimiter.join(['relation', 'Zoe', 'Yan', 'love', 'words'])}"  # noqa: E501
    )
    assert [(e.name, e.type, e.description) for e in entities] == [("Zoe", "person", "text")]
    assert [(r.source, r.target, r.keywords, r.description) for r in relations] == [
        ("Zoe", "Yan", ("love",), "words")
    ]


def test_rows_glued_without_a_delimiter_are_all_kept() -> None:
    entities, relations = parse_rows(
        f"{SOUND}. entity{D}Yan{D}person{D}other relation{D}Zoe{D}Yan{D}love{D}they love"
    )
    assert [(e.name, e.description) for e in entities] == [("Zoe", "text."), ("Yan", "other")]
    assert [r.description for r in relations] == ["they love"]


def test_a_row_glued_to_the_rest_of_another_is_kept() -> None:
    assert names(f"entity{D}A{D}per entity{D}Zoe{D}person{D}text") == ["Zoe"]
    assert names(f"{SOUND}{D}entity") == ["Zoe"]


def test_a_row_broken_over_two_lines_is_one_row() -> None:
    assert names(f"entity{D}Zoe{D}person\n  {D}text\nentity{D}Yan{D}person{D}text") == [
        "Zoe",
        "Yan",
    ]


def test_things_named_like_kinds_are_things() -> None:
    entities, relations = parse_rows(
        f"entity{D}Legal Entity{D}concept{D}a relation\nrelation{D}Legal "
        f"Entity{D}Relation{D}law{D}entity"
    )
    assert [(e.name, e.description) for e in entities] == [("Legal Entity", "a relation")]
    assert [(r.source, r.target) for r in relations] == [("Legal Entity", "Relation")]


def test_a_sixth_field_is_the_strength() -> None:
    for values in (("love", "the longer text"), ("the longer text", "love")):
        (relation,) = parse_rows(D.join(("relation", "A", "B", *values, "7.5")))[1]
        assert (relation.keywords, relation.description, relation.weight) == (
            ("love",),
            "the longer text",
            7.5,
        )


def test_rows_may_speak_of_tags_and_drafts_of_rows_are_no_rows() -> None:
    for draft in (
        f"<think>{SOUND.replace('Zoe', 'No')}</think>",
        f"{SOUND.replace('Zoe', 'No')}\n</think>\n",
    ):
        assert names(split_reasoning(f"{draft}{SOUND}").text) == ["Zoe"]
    answer = (
        f"entity{D}<think> tag{D}concept{D}It opens a "
        f"thought.\n{SOUND}\nentity{D}End{D}concept{D}It is </think>."
    )
    assert split_reasoning(answer).text == answer
    assert names(answer) == ["<think> tag", "Zoe", "End"]


def test_placeholders_copied_from_the_prompt_are_no_names() -> None:
    assert parse_rows(
        f"entity{D}<name>{D}person{D}text\nrelation{D}<source>{D}<target>{D}k{D}text"
    ) == ((), ())


def test_no_more_is_taken_of_an_answer_than_the_recipe_and_an_event_allow() -> None:
    rows = "\n".join(f"entity{D}n{n}{D}t{D}text\nrelation{D}a{D}n{n}{D}k{D}text" for n in range(9))
    entities, relations = parse_rows(rows, ExtractionConfig(max_entities=3, max_records=5))
    assert (len(entities), len(relations)) == (3, 2)
    entities, _ = parse_rows("\n".join(f"entity{D}n{n}{D}t{D}{'文' * 9000}" for n in range(40)))
    assert {len(e.description) for e in entities} == {MAX_DESCRIPTION}
    assert 0 < sum(len(e.description.encode()) for e in entities) <= row_collector.MAX_BYTES


odd = st.text(
    st.characters(exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029<|"),
    min_size=1,
    max_size=20,
)
broken_rows = st.lists(
    st.sampled_from([f"entity{D}", *BROKEN, "entity", "relation", D, "(", '"', "#", "x"]),
    max_size=12,
)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(odd, odd), min_size=1, max_size=5),
    st.lists(broken_rows, max_size=5),
    st.randoms(),
)
def test_sound_rows_with_odd_names_survive_broken_neighbours(
    values: list[tuple[str, str]], junk: list[list[str]], r: Random
) -> None:
    sound_names = {clean_name(f"n {name}") for name, _ in values}
    lines = [f"entity{D}n {name}{D}thing{D}d {text}" for name, text in values] + [
        f"x {''.join(cells)}" for cells in junk
    ]
    r.shuffle(lines)
    assert sound_names <= set(names("\n".join(lines)))


@pytest.mark.parametrize(
    "unit", [f"entity{D}", D, "<|#", "entity ", '("entity"<|>', "##", "<think>", f"{D}entity{D}a"]
)
def test_a_long_answer_takes_linear_time(unit: str) -> None:
    begin = time.process_time()
    parse_rows(unit * (200_000 // len(unit)))
    parse_json(unit * (200_000 // len(unit)))
    assert time.process_time() - begin < 20
