"""Partitions of stores that tests share."""

import uuid

from contracts.graph import Partition


def fresh_partition(generation: int = 1) -> Partition:
    """A partition that no other test has used: making one is slow in some stores, emptying another
    test's would be felt there.
    """
    return Partition(f"test-{uuid.uuid4().hex[:12]}", generation)
