"""What a question is searched by in a conversation: a follow-up question has the names that were
spoken of before.

"And who keeps it today?" names nothing. Without a model the names of the last turns stand for the
word that refers.
"""

import re

from offline.language.names import names
from offline.language.terms import is_content, words
from services.query.question import Question

MAX_TURNS = 2
"""Turns at the end of the conversation whose names are searched by: the question before, and its
answer.
"""

MAX_NAMES = 6
MAX_READ = 4_000
"""Characters of a turn that are read."""

_REFERS = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|there|then|one|ones|"
    r"er|ihn|ihm|sie|es|ihr|ihre|ihren|ihrem|ihrer|sein|seine|seinen|seinem|seiner|dort|dies|diese|dieser|dieses|"
    r"il|elle|ils|elles|lui|leur|leurs|celui|celle|ça|cela|él|ella|ellos|ellas|eso|esto|allí|lo|la)\b"
    r"|[他她它]|[这那]",
    re.IGNORECASE,
)
"""Words that mean what was spoken of before, in the languages whose names are found without a
model.
"""

_GOES_ON = re.compile(
    r"\W*(?:and|but|so|also|und|aber|et|mais|y|pero|e|ma)\b|\W*(?:那么?|还有)", re.IGNORECASE
)


def search_text(question: Question) -> str:
    """Return the text to search by: the question, with the names of the last turns where it refers
    to them.
    """
    if not question.history or not _is_follow_up(question.query):
        return question.query
    contents = [turn.content[:MAX_READ] for turn in question.history if turn.role != "system"][
        -MAX_TURNS:
    ]
    question_names = {name.text for name in names(question.query)}
    earlier_names = dict.fromkeys(
        name.text for text in contents for name in names(text) if name.text not in question_names
    )
    return (
        f"{question.query} ({', '.join(list(earlier_names)[:MAX_NAMES])})"
        if earlier_names
        else question.query
    )


def _is_follow_up(query: str) -> bool:
    """Return whether a question refers to something before it, goes on from it, or says nothing by
    itself.
    """
    if _REFERS.search(query) or _GOES_ON.match(query):
        return True
    return not names(query) and not any(is_content(word) for word in words(query))
