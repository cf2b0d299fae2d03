"""Texts as every database can hold them: `text` of PostgreSQL takes every character but U+0000, and
SQLite's functions take it for a text's end.

U+0000 and U+0001 are stored as two characters each. That keeps the order of texts, changes no other
text, and is undone where one is read: so people who look with SQL see what was written.
"""


def stored_text(text: str) -> str:
    """Return the text as it is stored."""
    if "\x00" not in text and "\x01" not in text:
        return text
    return text.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01")


def read_text(text: str) -> str:
    """Return the text that `stored_text` made this one from."""
    if "\x01" not in text:
        return text
    return text.replace("\x01\x01", "\x00").replace("\x01\x02", "\x01")
