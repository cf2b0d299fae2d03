"""Reading a model's answer: what is sound is kept, what can be repaired is repaired, nothing raises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.extractor.domain.names import MAX_BYTES, MAX_CHARACTERS, clean_name, clean_text
from services.extractor.domain.prompt import DELIMITER
from services.extractor.domain.rows import parse

D = DELIMITER
SOUND = f"entity{D}Zoe{D}person{D}text"


def names(answer: str) -> list[str]:
    return [entity.name for entity in parse(answer)[0]]


def pairs(answer: str) -> list[tuple[str, str]]:
    return [(relation.source, relation.target) for relation in parse(answer)[1]]


def type_of(kind: str) -> str | None:
    entities, _ = parse(f"entity{D}A{D}{kind}{D}text")
    return entities[0].type if entities else None


def test_rows_become_entities_and_relations() -> None:
    answer = f"entity{D}Alice{D}Person{D}She paints\nrelation{D}Alice{D}Bob{D}art, love{D}She paints Bob\n<|COMPLETE|>"
    (entity,), (relation,) = parse(answer)
    assert (entity.name, entity.type, entity.description) == ("Alice", "person", "She paints")
    assert (relation.source, relation.target, relation.keywords) == ("Alice", "Bob", ("art", "love"))
    assert (relation.description, relation.weight) == ("She paints Bob", 1.0)


def test_an_entity_row_with_five_fields_is_a_relation() -> None:
    assert pairs(f"entity{D}Alice{D}Mars Base{D}works at{D}text") == [("Alice", "Mars Base")]


@pytest.mark.parametrize("end", ["Alice", " alice ".title(), '"Alice"', "《Alice》"])
def test_a_relation_of_a_thing_with_itself_is_dropped(end: str) -> None:
    assert pairs(f"relation{D}Alice{D}{end}{D}is{D}text") == []


@pytest.mark.parametrize(
    ("kind", "kept"),
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
def test_types_are_single_lower_case_words(kind: str, kept: str | None) -> None:
    assert type_of(kind) == kept


@pytest.mark.parametrize(
    ("written", "kept"),
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
def test_names_are_written_in_one_way(written: str, kept: str) -> None:
    assert clean_name(written) == kept


def test_a_long_name_is_cut_at_a_character() -> None:
    (entity,), _ = parse(f"entity{D}{'n' * 300}{D}person{D}text")
    assert entity.name == "n" * MAX_CHARACTERS
    assert clean_name("文" * 300) == "文" * (MAX_BYTES // 3)


@settings(deadline=None)
@given(st.text())
def test_cleaning_a_name_is_bounded_and_never_raises(text: str) -> None:
    name = clean_name(text)
    assert len(name) <= MAX_CHARACTERS
    assert len(name.encode()) <= MAX_BYTES
    assert clean_text(text) == clean_text(text).strip()


BROKEN = [
    "<|##|>", "<|#||#|>", r"<|\#|>", "<|>", "<||>", "<X|#|>", "<|#|Y>", "<||#||>", "<#>", "<#|>", "<|#>",
    "<X#|>", "<|#X>", "<|#|", "<|#||", "<|#:", "<||#>", "|#|>", "<|#|>|", "||#||",
]  # fmt: skip


@pytest.mark.parametrize("delimiter", BROKEN)
def test_a_delimiter_that_is_spelt_wrong_is_repaired(delimiter: str) -> None:
    entities, relations = parse(delimiter.join(["entity", "Zoe", "person", "text"]))
    assert [(e.name, e.type, e.description) for e in entities] == [("Zoe", "person", "text")]
    assert relations == ()


@pytest.mark.parametrize("delimiter", BROKEN)
def test_one_wrong_delimiter_among_sound_ones_is_repaired(delimiter: str) -> None:
    answer = f"relation{D}Zoe{delimiter}Yan{D}love{D}text"
    (relation,) = parse(answer)[1]
    assert (relation.source, relation.target, relation.keywords) == ("Zoe", "Yan", ("love",))


@pytest.mark.parametrize("kind", ["entity", "relation", "relationship", "ENTITY"])
def test_rows_glued_together_are_all_kept(kind: str) -> None:
    tail = f"B{D}person{D}two" if "entity" in kind.lower() else f"B{D}C{D}love{D}two"
    entities, relations = parse(f"entity{D}A{D}person{D}one{D}{kind}{D}{tail}")
    assert [e.name for e in entities] == (["A", "B"] if "entity" in kind.lower() else ["A"])
    assert len(relations) == (0 if "entity" in kind.lower() else 1)


def test_what_a_model_thinks_aloud_is_not_read() -> None:
    assert names(f"<think>entity{D}No{D}person{D}text\n</think>{SOUND}") == ["Zoe"]


@pytest.mark.parametrize("mark", ["<|COMPLETE|>", "<|complete|>", ""])
def test_the_mark_of_completion_ends_a_row_and_may_be_missing(mark: str) -> None:
    assert names(f"{SOUND}{mark}entity{D}Yan{D}person{D}text" if mark else SOUND) == (
        ["Zoe", "Yan"] if mark else ["Zoe"]
    )


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
    entities, relations = parse(f"{row}\n{SOUND}\n{row}\nrelation{D}Zoe{D}Yan{D}love{D}text")
    assert [e.name for e in entities] == ["Zoe"]
    assert [(r.source, r.target) for r in relations] == [("Zoe", "Yan")]


def test_keywords_are_split_at_commas_of_both_widths_and_stand_once() -> None:
    (relation,) = parse(f"relation{D}A{D}B{D}love，art, love , {D}text")[1]
    assert relation.keywords == ("love", "art")


def test_of_a_name_or_pair_that_comes_twice_the_first_row_counts() -> None:
    assert [e.description for e in parse(f"{SOUND}\nentity{D}Zoe{D}place{D}other")[0]] == ["text"]


@settings(deadline=None, max_examples=300)
@given(st.text())
def test_no_answer_raises(answer: str) -> None:
    parse(answer)


fragments = st.lists(
    st.sampled_from([D, *BROKEN, "entity", "relation", "\n", "A", "文", '"', "<think>", "<|COMPLETE|>", " "])
)


@settings(deadline=None, max_examples=300)
@given(fragments.map("".join))
def test_no_mixture_of_markers_raises_and_all_that_is_kept_is_whole(answer: str) -> None:
    entities, relations = parse(answer)
    assert all(e.name and e.type and e.description for e in entities)
    assert all(r.source and r.target and r.description and r.source != r.target for r in relations)


words = st.text("abcdefgh ", min_size=3, max_size=20).map(str.strip).filter(bool)
rows = st.lists(
    st.tuples(words.map(lambda word: f"n{word}"), words), min_size=1, max_size=6, unique_by=lambda row: row[0]
)
garbage = st.text(st.characters(exclude_characters="\n\r<>|#"), max_size=40).map(
    lambda text: text.replace("entity", "")
)


@settings(deadline=None, max_examples=200)
@given(rows, st.lists(garbage, max_size=6), st.randoms(use_true_random=False))
def test_sound_rows_survive_whatever_stands_between_them(
    rows: list[tuple[str, str]], junk: list[str], r: object
) -> None:
    lines = [f"entity{D}{name}{D}thing{D}{text}" for name, text in rows] + junk
    r.shuffle(lines)  # type: ignore[attr-defined]
    assert set(names("\n".join(lines))) == {clean_name(name) for name, _ in rows}
