"""Says why somebody may see a document, or may not."""

from collections.abc import Iterable

from contracts.access import EVERYONE, Access
from contracts.access_of_texts import AccessOfTexts


def explain(texts: AccessOfTexts, principals: Iterable[str]) -> tuple[bool, str]:
    """Return whether who is all of these principals, and `everyone`, sees the document, and why."""
    names = {*principals, EVERYONE}
    if not texts.is_there:
        return False, "the document is deleted, or was not there yet"
    is_admitted, reason = _verdict(texts.access, names)
    for access in ordered(texts.older_lists) if is_admitted else ():
        is_admitted, reason_of_older = _verdict(access, names)
        if not is_admitted:
            return False, f"an older text, which is not replaced yet, is {reason_of_older}"
    return is_admitted, reason


def ordered(lists: Iterable[Access]) -> list[Access]:
    """Return lists in an order that is always the same."""
    return sorted(lists, key=lambda access: (access.allow, access.deny))


def _verdict(access: Access | None, names: set[str]) -> tuple[bool, str]:
    if access is None:
        return True, "nothing restricts it: everyone of the workspace sees it"
    if denied_names := sorted(names.intersection(access.deny)):
        return False, f"denied to {', '.join(denied_names)}"
    if allowed_names := sorted(names.intersection(access.allow)):
        return True, f"allowed to {', '.join(allowed_names)}"
    return False, f"allowed to {', '.join(access.allow) or 'nobody'} only"
