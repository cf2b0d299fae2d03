"""In which languages passages are, and whether a built-in embedding model knows them."""

import pytest

from knowledge.passage_languages import count_languages, model_that_knows, unknown_language

ENGLISH = "The ferry leaves from the pier at noon, and it is full in the summer."
GERMAN = "Die Fähre legt um zwölf Uhr an der Mole ab, und im Sommer ist sie voll."
FINNISH = "Hän sanoi että se on hyvä, mutta kun me olemme siellä niin ei ole niin kuin ennen."
CHINESE = "渡轮中午从码头出发，夏天坐满了人。"
TABLE = "| 7 | 12.5 | A-17 |\n| 8 | 13.0 | A-18 |"


def test_what_has_no_words_of_grammar_counts_as_english() -> None:
    texts = [ENGLISH, GERMAN, CHINESE, TABLE, "die Waschmaschine"]
    assert count_languages(texts) == {"english": 3, "german": 1, "chinese": 1}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("연락선은 정오에 부두에서 떠나고 여름에는 만원이다.", "korean"),
        ("เรือข้ามฟากออกจากท่าเรือตอนเที่ยง และเต็มในฤดูร้อน", "thai"),
        ("תבערה", "hebrew"),
        ("नौका दोपहर को घाट से निकलती है और गर्मियों में भरी रहती है।", "hindi"),
        ("Πορθμείο | Θέσεις", "greek"),
        ("படகு நண்பகலில் புறப்படும்", "tamil"),
        ("ბორანი შუადღისას გადის", "georgian"),
        ("العبارة تغادر من الرصيف عند الظهر", "arabic"),
        ("کشتی ظهر از اسکله حرکت می‌کند و در تابستان پر است، پس چند روز پیش جا بگیرید.", "persian"),
        ("کشتی دوپہر کو گھاٹ سے روانہ ہوتی ہے اور گرمیوں میں بھری رہتی ہے۔", "urdu"),
        ("フェリーは正午に桟橋を出る。", "japanese"),
        (
            "Паром отходит от причала в полдень, и летом на нём нет мест, но он не опаздывает.",
            "russian",
        ),
    ],
)
def test_a_language_is_told_by_its_script(text: str, language: str) -> None:
    assert count_languages([text]) == {language: 1}
    assert unknown_language({language: 1}, "minilm") == language


def test_words_of_another_script_do_not_make_the_language() -> None:
    korean = "`docker compose up` 명령으로 서버를 시작하고 README.md 파일을 읽으세요."
    english = f"{ENGLISH} It is called 연락선 in Korean, and α is the angle of its bow."
    assert count_languages([korean, english]) == {"korean": 1, "english": 1}


def test_a_language_is_unknown_where_most_passages_are_in_ones_that_the_model_lacks() -> None:
    assert unknown_language({"german": 5, "english": 5}, "minilm") == ""
    assert unknown_language({"german": 6, "english": 5}, "minilm") == "german"
    assert unknown_language({"german": 3, "french": 4, "english": 5}, "minilm-floats") == "french"
    assert unknown_language({"german": 6}, "multilingual") == ""
    assert unknown_language(count_languages([FINNISH]), "multilingual") == "finnish"
    assert unknown_language({}, "minilm") == ""


def test_of_models_that_compare_words_or_are_a_providers_nothing_is_said() -> None:
    assert unknown_language({"german": 6}, "lexical") == ""
    assert unknown_language({"german": 6}, "text-embedding-3-small") == ""
    assert unknown_language({"german": 6}, "") == ""


def test_a_model_is_named_where_one_is_built_in() -> None:
    assert model_that_knows("chinese") == model_that_knows("korean") == "multilingual"
    assert model_that_knows("finnish") == model_that_knows("hindi") == ""
