"""Which entities a question names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.language.normal_forms import normalised, words
from services.query.retrieval.linking import link_entities, unlinked_forms
from services.query.retrieval.name_index import NameIndex

NAMES = (
    ("Blue Harbour", "content"),
    ("Harbour", "location"),
    ("Blue Harbour Festival", "event"),
    ("Ada Marsh", "person"),
    ("Karl Osten", "other"),
    ("Lowell Pictures", "organization"),
    ("Lotte Lowell", "person"),
    ("The Tide Lady", "other"),
    ("Café Zürich", "location"),
    ("王小明", "person"),
    ("北京大学", "organization"),
    ("山田 太郎", "person"),
    ("Film", "concept"),
    ("US", "location"),
    ("us", "concept"),
    ("Iris Bell", "person"),
    ("Otto Bell", "person"),
    ("Ｗｉｄｅ", "other"),
)


def index(*names: tuple[str, str]) -> NameIndex:
    name_index = NameIndex()
    name_index.add(names or NAMES)
    return name_index


def found(question: str, *names: tuple[str, str]) -> list[tuple[str, tuple[str, ...], str]]:
    return [(link.text, link.names, link.method) for link in link_entities(question, index(*names))]


@pytest.mark.parametrize(
    ("question", "name", "method"),
    [
        ("Where was Tolstoy born?", "Толстой", "name"),
        ("where was tolstoy born", "Толстой", "name"),
        ("Где родился Толстой?", "Tolstoy", "name"),
        ("What did Dostoevsky write?", "Достоевский", "spelling"),
        ("What is in Athina?", "Αθήνα", "name"),
        ("Who lives in Lodz?", "Łódź", "name"),
        ("How large is Beijing?", "北京", "name"),
        ("how large is seoul", "서울", "name"),
        ("Who was Maozedong?", "毛泽东", "name"),
    ],
)
def test_a_name_is_linked_in_another_script(question: str, name: str, method: str) -> None:
    assert [link[1:] for link in found(question, (name, "other"), ("Nobody", "other"))] == [
        ((name,), method)
    ]


def test_a_name_that_is_written_so_is_meant_before_one_that_is_read_so() -> None:
    names = (("Li", "person"), *((name, "person") for name in "李里力丽"))
    assert found("Who is Li?", *names) == [("Li", ("Li",), "name")]
    assert found("Who is Li?", *names[1:]) == [], "four are read so"
    assert found("谁是李？", *names) == [("李", ("李",), "name")]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who rules Saint Malo?", "Saint-Malo"),
        ("Who rules Saint-Malo?", "Saint Malo"),
        ("Who sells CocaCola?", "Coca-Cola"),
        ("Where is Hamburgs harbour?", "Hamburg"),
        ("What do the Harbour Offices do?", "Harbour Office"),
    ],
)
def test_hyphens_and_short_endings_make_no_other_name(question: str, name: str) -> None:
    assert [names for _, names, _ in found(question, (name, "other"))] == [(name,)]


def test_the_longest_name_is_meant_not_one_inside_of_it() -> None:
    assert found("Who opened the Blue Harbour Festival?") == [
        ("Blue Harbour Festival", ("Blue Harbour Festival",), "name")
    ]
    assert found("Who made Blue Harbour?") == [("Blue Harbour", ("Blue Harbour",), "name")]


def test_several_names_of_a_question_are_linked_in_its_order() -> None:
    assert [form for form, _, _ in found("Did Karl Osten know Ada Marsh of Lowell Pictures?")] == [
        "Karl Osten",
        "Ada Marsh",
        "Lowell Pictures",
    ]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("who is ada marsh", "Ada Marsh"),
        ("WHO IS ADA MARSH", "Ada Marsh"),
        ("where was ada marsh in 1986, and in the 2nd year?", "Ada Marsh"),
        ("Where is the cafe zurich?", "Café Zürich"),
        ("Ada Marsh's teacher?", "Ada Marsh"),
        ("Who was Tide Lady?", "The Tide Lady"),
        ("王小明在哪里工作？", "王小明"),
        ("谁在北京大学教书？", "北京大学"),
        ("山田太郎はどこで生まれましたか", "山田 太郎"),
        ("what is Wide", "Ｗｉｄｅ"),
    ],
)
def test_case_accents_articles_and_missing_blanks_do_not_matter(question: str, name: str) -> None:
    assert [(names, by) for _, names, by in found(question)] == [((name,), "name")]


@pytest.mark.parametrize(
    "slip", ["Ada Mrash", "Lowel Pictures", "Lowell Picturess", "blue harbuor", "Karl Ostn"]
)
def test_a_slip_of_the_pen_is_understood(slip: str) -> None:
    (link,) = found(f"Tell me about {slip}?")
    assert link[2] == "spelling" and link[1][0][:3].lower() == slip[:3].lower()


def test_a_surname_links_where_only_one_bears_it() -> None:
    assert found("What did Osten write?") == [("Osten", ("Karl Osten",), "surname")]
    assert found("What did Bell write?") == []


def test_words_in_lower_case_are_no_names_where_the_question_writes_capitals() -> None:
    assert found("Which film did Ada Marsh direct?") == [("Ada Marsh", ("Ada Marsh",), "name")]
    assert found("which film is it") == [("film", ("Film",), "name")]
    assert found("what was it about us") == []


def test_one_form_may_mean_a_few_entities_but_not_many() -> None:
    assert found("Why XY?", ("XY", ""), ("xy", "")) == [("XY", ("XY", "xy"), "name")]
    assert found("Why XY?", ("XY", ""), ("xy", ""), ("Xy", ""), ("xY", "")) == []


def test_nothing_links_to_nothing() -> None:
    assert found("", ("A", "")) == [] and link_entities("Who is Ada Marsh?", NameIndex()) == []
    assert found("？！…", ("...", ""), ("x" * 5000, "")) == []


def test_what_is_left_of_a_question_may_be_looked_up_as_it_is_written() -> None:
    question = "Did Ada Marsh know Nora van Quist of the Old Mill?"
    forms = unlinked_forms(question, link_entities(question, index()))
    assert {"Nora van Quist", "Old Mill"} <= set(forms)
    assert not [form for form in forms if "Ada" in form or form.startswith("of ")]


@given(st.text(max_size=80))
def test_any_text_is_read_without_failing_and_links_lie_where_they_say(text: str) -> None:
    for word in words(text):
        assert normalised(text[word.start : word.end]) == word.form
    for link in link_entities(text, index()):
        assert text[link.start : link.end] == link.text


@given(st.lists(st.tuples(st.text(max_size=12), st.sampled_from(["person", "other"])), max_size=8))
def test_every_name_that_is_no_rubbish_finds_itself(names: list[tuple[str, str]]) -> None:
    name_index = index(*names) if names else NameIndex()
    for name, _ in names:
        matches = name_index.by_name(" ".join(word.form for word in words(name)))
        assert not matches or name in matches or len([n for n, _ in names if words(n)]) > 1


@pytest.mark.parametrize(
    ("question", "form", "name"),
    [
        ("Who taught Tavko Slhol?", "Tavko Slhol", "Tavko Selhol"),
        ("who taught tavko slhol?", "tavko slhol", "Tavko Selhol"),
        ("Who taught Junsle Tavko?", "Junsle Tavko", "Junsel Tavko"),
    ],
)
def test_a_slip_beside_a_word_that_is_a_name_itself_is_understood(
    question: str, form: str, name: str
) -> None:
    names = (
        ("Tavko", "person"),
        ("Tavko Selhol", "person"),
        ("Junsel Tavko", "person"),
        ("Ulhol", "location"),
    )
    assert found(question, *names) == [(form, (name,), "spelling")]


def test_a_name_stays_short_where_the_word_beside_it_is_another_one() -> None:
    names = (("Tavko", "person"), ("Tavko Selhol", "person"))
    assert found("Who taught Tavko Norlu?", *names) == [("Tavko", ("Tavko",), "name")]
    assert found("Who taught Tavko today?", *names) == [("Tavko", ("Tavko",), "name")]


def test_what_stands_in_brackets_right_after_a_name_belongs_to_it() -> None:
    (link,) = link_entities(
        "Who made Blue Harbour (1931 film) in Zürich?", index(("Blue Harbour", ""), ("Film", ""))
    )
    assert (link.text, link.names, link.qualifier) == (
        "Blue Harbour (1931 film)",
        ("Blue Harbour",),
        "1931 film",
    )
    (link,) = link_entities("who made blue harbour?", index(("Blue Harbour", "")))
    assert link.qualifier == ""
