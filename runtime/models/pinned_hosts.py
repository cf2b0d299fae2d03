"""Hosts whose addresses were checked, so that connections go to these and no others."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar

PINNED_HOSTS: ContextVar[Mapping[str, Sequence[str]]] = ContextVar("pinned_hosts")
"""Addresses by the names of hosts: connections that this context opens go to no others of these
hosts. They were checked, and the names may have others by now.
"""
