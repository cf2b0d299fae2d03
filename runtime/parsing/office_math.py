"""Equations of Office as one line of text: `v=s/t+x^2`."""

from xml.etree.ElementTree import Element

from runtime.parsing.office_parts import attribute, child, local

_SHORT = 1
"""Characters of an operand that need no parentheses around them."""


def math_text(element: Element) -> str:
    """Return the text of an equation or a part of it."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name in _FORMS:
        return _FORMS[name](element)
    return "" if name.endswith("Pr") else "".join(map(math_text, element))


def _of(element: Element, name: str) -> str:
    part = child(element, name)
    return "".join(map(math_text, part)) if part is not None else ""


def _operand(text: str) -> str:
    return text if len(text) <= _SHORT or text.isalnum() else f"({text})"


def _fraction(element: Element) -> str:
    return f"{_operand(_of(element, 'num'))}/{_operand(_of(element, 'den'))}"


def _scripts(element: Element) -> str:
    below = _of(element, "sub") or _of(element, "lim")
    above = _of(element, "sup")
    return (
        _of(element, "e")
        + (f"_{_operand(below)}" if below else "")
        + (f"^{_operand(above)}" if above else "")
    )


def _root(element: Element) -> str:
    return f"{_of(element, 'deg')}√{_operand(_of(element, 'e'))}"


def _nary(element: Element) -> str:
    sign = attribute(child(element, "naryPr", "chr"), "val", "∫")
    below = _of(element, "sub")
    above = _of(element, "sup")
    bounds = (f"_{_operand(below)}" if below else "") + (f"^{_operand(above)}" if above else "")
    return f"{sign}{bounds} {_of(element, 'e')}"


def _delimited(element: Element) -> str:
    begin = attribute(child(element, "dPr", "begChr"), "val", "(")
    end = attribute(child(element, "dPr", "endChr"), "val", ")")
    inner = ["".join(map(math_text, argument)) for argument in element if local(argument) == "e"]
    return begin + ", ".join(inner) + end


def _matrix(element: Element) -> str:
    rows = [row for row in element if local(row) == "mr"]
    return "[" + "; ".join(", ".join(math_text(cell) for cell in row) for row in rows) + "]"


def _function(element: Element) -> str:
    return f"{_of(element, 'fName')} {_of(element, 'e')}"


_FORMS = {
    "f": _fraction,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "limLow": _scripts,
    "rad": _root,
    "nary": _nary,
    "d": _delimited,
    "m": _matrix,
    "func": _function,
}
