"""Who may see a document: the principals that are allowed and those that are denied."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated

from pydantic import BeforeValidator, Field

from contracts.values import Value

EVERYONE = "everyone"
"""The principal that every reader of a workspace is."""

PRINCIPAL_PATTERN = r"^(everyone|(user|group):[^\s,\x00-\x1f\x7f]{1,250})$"
"""`everyone`, or `user:` or `group:` and a name without blanks and commas."""


def _principal(name: object) -> object:
    if isinstance(name, str) and not re.fullmatch(PRINCIPAL_PATTERN, name):
        raise ValueError(
            f"{name[:80]!r} is no principal: everyone, user:NAME or group:NAME, with at most 250 "
            "characters and without blanks and commas"
        )
    return name


_Pattern = Annotated[str, Field(pattern=PRINCIPAL_PATTERN)]
PrincipalName = Annotated[_Pattern, BeforeValidator(_principal, json_schema_input_type=_Pattern)]

MAX_PRINCIPALS = 1000
"""Principals of one list."""


class Access(Value):
    """Who may see a document: whoever is allowed by a principal and denied by none."""

    allow: tuple[PrincipalName, ...] = Field(
        default=(EVERYONE,), max_length=MAX_PRINCIPALS, description="empty: nobody"
    )
    deny: tuple[PrincipalName, ...] = Field(
        default=(), max_length=MAX_PRINCIPALS, description="wins over `allow`"
    )

    def admits(self, principals: AbstractSet[str]) -> bool:
        """Return whether who is all of these principals, and `everyone`, may see the document."""
        names = {*principals, EVERYONE}
        return not names.intersection(self.deny) and bool(names.intersection(self.allow))


def access_of(allow: Sequence[str], deny: Sequence[str]) -> Access | None:
    """Return the access of two lists of principals; None for two empty ones. Without anybody
    allowed everyone is.
    """
    if not (allow or deny):
        return None
    return Access(allow=tuple(allow) or (EVERYONE,), deny=tuple(deny))


def narrowed(first: Access | None, second: Access | None) -> Access | None:
    """Return an access that admits nobody whom either of them does not admit. Who is allowed by
    different principals of the two is left out, too.
    """
    if first is None or second is None:
        return first or second
    if EVERYONE in first.allow:
        allow = second.allow
    elif EVERYONE in second.allow:
        allow = first.allow
    else:
        allow = tuple(name for name in first.allow if name in second.allow)
    deny = tuple(dict.fromkeys((*first.deny, *second.deny)))
    return Access(allow=allow, deny=deny) if len(deny) <= MAX_PRINCIPALS else Access(allow=())
