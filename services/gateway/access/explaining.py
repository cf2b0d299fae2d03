"""Says why somebody may see a document, or may not."""

from collections.abc import Iterable

from contracts.access import EVERYONE
from publishing.access import AccessState


def explain(state: AccessState, principals: Iterable[str]) -> tuple[bool, str]:
    """Return whether who is all of these principals, and `everyone`, sees the document, and why."""
    names = {*principals, EVERYONE}
    if not state.is_there:
        return False, "there is no such document"
    if state.access is None:
        return True, "nothing restricts it: everyone of the workspace sees it"
    if denied_names := sorted(names.intersection(state.access.deny)):
        return False, f"denied to {', '.join(denied_names)}"
    if allowed_names := sorted(names.intersection(state.access.allow)):
        return True, f"allowed to {', '.join(allowed_names)}"
    return False, f"allowed to {', '.join(state.access.allow) or 'nobody'} only"
