"""What an answer without a model may quote: sentences, and rows of tables with the names of their columns."""

from hypothesis import given
from hypothesis import strategies as st

from services.query.offline.quotable_sentences import quotable


def test_sentences_are_quoted_without_headings_and_code() -> None:
    text = "# Ships\n\nThe Grey Gull is slow. She is old.\n\n```\ncode\n```\n- a bullet"
    assert list(quotable(text)) == ["The Grey Gull is slow.", "She is old.", "- a bullet"]


def test_a_row_says_what_its_cells_mean() -> None:
    text = (
        "Crew:\n\n| Sailor | Ship |\n| --- | :-: |\n| Ruth Thorn | Grey \\| Gull |\n"
        "| Dr. Ivan Pike. A mate. |  |\n\nEnd.\n\n| a | |\n|---|---|\n| 1 | 2 | 3 |\n"
    )
    assert list(quotable(text)) == [
        "Crew:", "Sailor: Ruth Thorn; Ship: Grey | Gull", "Sailor: Dr. Ivan Pike. A mate.", "End.", "a: 1; 2; 3"
    ]  # fmt: skip


def test_rows_without_their_header_are_left_out() -> None:
    assert list(quotable("258 | Stall 258 |\n| 259 | Stall 259 |\n\nAll sold. None left.")) == [
        "All sold.",
        "None left.",
    ]


@given(st.text(alphabet="|- \n#ab.`\\", max_size=80))
def test_no_text_is_too_odd(text: str) -> None:
    assert all(quoted.strip() for quoted in quotable(text))
