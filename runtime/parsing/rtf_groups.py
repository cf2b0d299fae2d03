"""The groups of Rich Text Format that stand beside the text, and those that are left out of it."""

import re
from typing import NamedTuple

from runtime.parsing.omissions import DELETION, EMBEDDED, HIDDEN_TEXT, PICTURE, Omission, Omissions

_TOKEN = re.compile(r"\\bin(\d{1,10}) ?|\\([a-z]{1,32})(-?\d{1,10})? ?|\\.|[{}]", re.DOTALL)

_ASIDE = {
    "footnote": "Note",
    "annotation": "Comment",
    "shptxt": "",
    "header": "Header",
    "headerl": "Header",
    "headerr": "Header",
    "headerf": "Header",
    "footer": "Footer",
    "footerl": "Footer",
    "footerr": "Footer",
    "footerf": "Footer",
}
"""Destinations whose text is read behind the text, and how it is called there."""

_LEFT_OUT: dict[str, Omission] = {
    "deleted": DELETION,
    "v": HIDDEN_TEXT,
    "pict": PICTURE,
    "objdata": EMBEDDED,
}
"""Destinations and properties whose groups are left out."""

_SAME_PICTURE = "nonshppict"
"""The picture of the group before it once more, for older programs."""

_MARKUP = re.compile(r"\\'[0-9a-f]{2}|\\[a-z]{1,32}-?\d{0,10} ?|[{}\r\n]", re.IGNORECASE)


class Aside(NamedTuple):
    """The markup of a text that stands beside the text, and how it is called."""

    name: str
    markup: str


class _Group:
    """A group while it is read: its parts, and what is to become of it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.words: set[str] = set()

    def markup(self) -> str:
        return "".join(self.parts)


class Groups:
    """Takes a file apart: `text` is the markup without the groups beside it, `asides` are those."""

    def __init__(self, source: str, omissions: Omissions) -> None:
        self.asides: list[Aside] = []
        self._omissions = omissions
        self._open = [_Group()]
        self._read(source)
        while len(self._open) > 1:
            self._close("")
        self.text = self._open[0].markup()

    def _read(self, source: str) -> None:
        place = 0
        while token := _TOKEN.search(source, place):
            group = self._open[-1]
            group.parts.append(source[place : token.start()])
            place = token.end()
            if token[0] == "{":
                self._open.append(_Group())
                self._open[-1].parts.append("{")
            elif token[0] == "}":
                self._close("}")
            elif token[1]:
                place += int(token[1])
            else:
                group.parts.append(token[0])
                # `\v0` ends what `\v` begins.
                if token[2] and token[3] != "0":
                    group.words.add(token[2])
        self._open[-1].parts.append(source[place:])

    def _close(self, end: str) -> None:
        if len(self._open) == 1:
            self._open[0].parts.append(end)
            return
        group = self._open.pop()
        group.parts.append(end)
        if len(self._open) > 1 and self._is_taken_out(group):
            return
        self._open[-1].parts.append(group.markup())

    def _is_taken_out(self, group: _Group) -> bool:
        for word, kind in _LEFT_OUT.items():
            if word in group.words:
                self._count(word, kind, group)
                return True
        if _SAME_PICTURE in group.words:
            return True
        for word, name in _ASIDE.items():
            if word in group.words:
                self.asides.append(
                    Aside(name, group.markup().replace(f"\\{word}", "", 1).replace("{\\*", "{", 1))
                )
                return True
        return False

    def _count(self, word: str, kind: Omission, group: _Group) -> None:
        if word == "v":
            self._omissions.add(kind, len(_MARKUP.sub("", group.markup()).strip()))
        elif word != "pict" or not any(_SAME_PICTURE in outer.words for outer in self._open):
            self._omissions.add(kind)
