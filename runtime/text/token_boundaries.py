"""Where a long text may be cut so that its parts have the tokens of the whole.

Both vocabularies we know (`o200k_base`, `cl100k_base`) first split a text by a regular expression,
and no token reaches across such a split. The borders below are places where that expression always
splits, whatever stands around.
"""

import re
from collections.abc import Iterable, Iterator

LONGEST = 100_000
"""Characters a tokenizer is given at once: a million blanks in one go make tiktoken panic with a
BaseException.
"""

_BORDER = re.compile(r"\S(?= )|[^\W_](?=[\r\n，。、；：！？])|[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
"""Before a blank that follows a character; between a letter and a line break or CJK punctuation, or
a digit.
"""


def pieces(texts: Iterable[str], longest: int = LONGEST) -> Iterator[str]:
    """Yield the texts joined, in other pieces: of at most `longest` characters, each but the last
    cut at a border.

    Only where `longest` characters have no border (base64 in lower case, a run of blanks) is the
    cut arbitrary: the tokens next to it may then differ from those of the whole, but still decode
    to it.
    """
    waiting = ""
    for text in texts:
        waiting += text
        start = 0
        while len(waiting) - start > longest:
            end = _last_border(waiting, start, start + longest)
            yield waiting[start:end]
            start = end
        waiting = waiting[start:]
    if waiting:
        yield waiting


def _last_border(text: str, start: int, end: int) -> int:
    """Return the last border between `start` and `end`, looked for from behind; `end` where there
    is none.
    """
    step = 1_000
    while True:
        begin = max(start, end - step)
        border_end = max((border.end() for border in _BORDER.finditer(text, begin, end)), default=0)
        if border_end or begin == start:
            return border_end or end
        step *= 10
