"""Symbols of Word that are characters of a font of signs, as Unicode has them."""

_GREEK = dict(zip("abcdefghijklmnopqrstuvwxyz", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)) | dict(
    zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True)
)
_SYMBOL = {ord(letter): greek for letter, greek in _GREEK.items()} | {
    0x22: "∀",
    0x24: "∃",
    0x27: "∍",
    0x2A: "∗",
    0x2D: "−",
    0x40: "≅",
    0x5C: "∴",
    0x5E: "⊥",
    0xA2: "′",
    0xA3: "≤",
    0xA5: "∞",
    0xAB: "↔",
    0xAC: "←",
    0xAD: "↑",
    0xAE: "→",
    0xAF: "↓",
    0xB0: "°",
    0xB1: "±",
    0xB2: "″",
    0xB3: "≥",
    0xB4: "×",
    0xB5: "∝",
    0xB6: "∂",
    0xB7: "•",
    0xB8: "÷",
    0xB9: "≠",
    0xBA: "≡",
    0xBB: "≈",
    0xBC: "…",
    0xC5: "⊕",
    0xC6: "∅",
    0xC7: "∩",
    0xC8: "∪",
    0xC9: "⊃",
    0xCC: "⊂",
    0xCE: "∈",
    0xCF: "∉",
    0xD1: "∇",
    0xD2: "®",
    0xD3: "©",
    0xD4: "™",
    0xD5: "∏",
    0xD6: "√",
    0xD7: "⋅",
    0xD8: "¬",
    0xD9: "∧",
    0xDA: "∨",
    0xDB: "⇔",
    0xDC: "⇐",
    0xDE: "⇒",
    0xE5: "∑",
    0xF2: "∫",
}
_WINGDINGS = {
    0x28: "☎",
    0x2A: "✉",
    0x4A: "☺",
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "❑",
    0x72: "❒",
    0x75: "◆",
    0x76: "❖",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "◻",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS}


def symbol(font: str, code: str) -> str:
    """Return the character that a font has under a code in hexadecimal digits; empty for one that
    is not known.
    """
    try:
        place = int(code, 16)
    except ValueError:
        return ""
    is_private = 0xF000 <= place <= 0xF0FF
    signs = _FONTS.get(font.lower())
    if signs is not None:
        place &= 0xFF
        # Digits, brackets and signs of arithmetic stand in the font Symbol where ASCII has them.
        return signs.get(place, chr(place) if signs is _SYMBOL and 0x20 < place < 0x60 else "")
    return (
        ""
        if is_private or not 0x20 <= place <= 0x10FFFF or 0xD800 <= place <= 0xDFFF
        else chr(place)
    )
