"""The marks that models write around their reasoning, and what tells such a mark from a tag that is
spoken of.
"""

import re

_THOUGHT = r"(?:[a-z]+[:_-])?(?:ant)?(?:think(?:ing)?|thoughts?)"
_ASIDE = (
    r"(?:[a-z]+:)?"
    r"(?:reason(?:ing)?|reflect(?:ion)?|scratchpad|analysis|cot(?:_\w{1,30})?|inner_?monologue|inner_?thoughts?)"
)
_ATTRIBUTES = r"(?:\s[^<>\n]{0,80})?"
_BRACKETED = r"(?-i:THINK(?:ING)?|REASONING)"

MARK = re.compile(
    "|".join(
        (
            r"(?P<newline>\n)",
            r"(?P<code>`+|~{3,})",
            rf"(?P<open><(?:{_THOUGHT}|{_ASIDE}){_ATTRIBUTES}>",
            rf"\[{_BRACKETED}\]|◁{_THOUGHT}▷|<\|(?:begin_of_thought|START_THINKING|think(?:ing)?)\|>",
            r"<\|channel>|<unused94>)",
            rf"(?P<close></(?:{_THOUGHT}|{_ASIDE})\s{{0,8}}>",
            rf"\[/{_BRACKETED}\]|◁/{_THOUGHT}▷|<\|(?:end_of_thought|END_THINKING|/think(?:ing)?)\|>",
            r"<channel\|>|<unused95>)",
            r"(?P<channel><\|(?:start|channel|constrain|message|end|return|call)\|>)",
            r"(?P<wrapper></?(?:answer|response|final_answer)>|<\|(?:begin|end)_of_solution\|>",
            r"<\|(?:START|END)_(?:RESPONSE|TEXT)\|>)",
            r"(?P<phrase>(?-i:assistant(?:commentary)?final(?![a-z]))|here(?: is|'s) my response:)",
        )
    ),
    re.IGNORECASE,
)
"""Everything that says where reasoning begins or ends, and where code stands, in which nothing
does.
"""

_FIRST_OF_MARK = re.compile(r"[`~\[◁]|<(?!\|(?:#|COMPLETE)\|>)")
"""The first character of every mark that means something in a text without reasoning, but for what
stands between and behind the rows that a model extracts.
"""

PARTIAL = re.compile(
    r"(?:<[/|]{0,2}[a-z_:-]{0,40}\d{0,2}\|?"
    r"|</?[a-z_:-]{1,40}\s[^<>\n]{0,80}|\[/?[A-Z]{0,9}|◁/?[a-z_:-]{0,30}|`+|~+)\Z",
    re.IGNORECASE,
)
"""The end of a piece that may be the beginning of a mark."""

LONGEST_MARK = 140
"""Characters of a mark at most."""

LONGEST_PHRASE = 40
"""Characters of a phrase that ends reasoning at most."""

BEGINNING = re.compile(
    r"\s*(?:(?-i:analysis(?=[A-Z\"'*]))|here(?: is|'s) my thought process:)", re.IGNORECASE
)
"""Beginnings of answers that are reasoning up to a phrase: of servers that leave channel marks out,
and of Granite.
"""

MAYBE_BEGINNING = re.compile(
    r"\s*(?:a[nalysi]{0,7}|h[er]{0,3}(?:[ '][a-z ']{0,23})?)?\Z", re.IGNORECASE
)
"""A first piece that may become such a beginning."""

SPOKEN_OF = re.compile(r"[\"'”’`)»\],;:.!?*_|]|\\|<\|#\|>")
"""What stands behind a tag that is spoken of."""

SENTENCE = re.compile(r"[.!?。！？]|\n")
"""What a thought has, and the words between two tags that are spoken of have not."""

LOOK_AHEAD = 8
"""Characters behind a mark that tell what it means."""
ROW_DELIMITER = "<|#|>"
"""What stands between the fields of a row that a model extracts."""


def may_hold_reasoning(answer: str) -> bool:
    """Return whether the answer has to be read for reasoning: most have nothing like a mark."""
    return bool(BEGINNING.match(answer) or _FIRST_OF_MARK.search(answer))


def text_behind(match: re.Match[str], text: str) -> str:
    """Return the first characters behind a mark."""
    return text[match.end() : match.end() + LOOK_AHEAD]


def is_quoted(match: re.Match[str], before: str, text: str) -> bool:
    """Return whether a closing tag stands in quotation marks, as reasoning may speak of it."""
    behind = text[match.end() : match.end() + 1]
    return behind in ("`", '"', "'") and before.endswith(behind)


def reads_as_thought(content: str) -> bool:
    """Return whether the words between two tags within a sentence are a thought, and no tags that
    are spoken of.
    """
    if ROW_DELIMITER in content or not any(character.isalnum() for character in content):
        return False
    is_apart = content[0].isspace() and content[-1].isspace()
    return not is_apart or bool(SENTENCE.search(content)) or len(content.split()) >= 12
