"""What stores leave out of names that cannot have a text in them, before anything is decoded.

Names are compared as `contracts/spelling.py` and `str.casefold` have them, which no store does. But
a name of ASCII is its own spelling: so a store compares those, without the case of letters, and
gives all others.
"""


def like_pattern(text: str) -> str | None:
    """Return the pattern of LIKE that names of ASCII with this text match, whatever the case of
    letters; None for a text that none of those has which are compared. `\\` escapes in it.
    """
    folded_text = text.casefold()
    # Names with U+0000, which no store holds as it is, are given whatever is looked for.
    if not folded_text.isascii() or "\x00" in folded_text:
        return None
    escaped_text = folded_text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped_text}%"
