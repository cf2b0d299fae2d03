"""Names of embedding models: the provider's own, and behind a `#` the form in which it is sent
documents.
"""

import re

FORM_DIGITS = 8
"""Hexadecimal digits that stand for a form of documents which is not the plain one."""

_FORM = re.compile(rf"#[0-9a-f]{{{FORM_DIGITS}}}\Z")


def provider_name(model: str) -> str:
    """Return the name by which the provider knows a model, of the name that its vectors have
    here.
    """
    return _FORM.sub("", model)
