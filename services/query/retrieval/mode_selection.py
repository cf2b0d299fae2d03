"""The mode `auto`: a walk, and where no name in the question leads one, the mode `mix` too."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from services.query.question import Mode
from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.results import SearchResult

MIX_WEIGHT = 0.3
"""Of the chunks of `mix`, where those of the walk, which has searched by vectors too, weigh 1."""
FUSION_K = 2
"""The constant k of this fusion: small, so that the first chunks of the walk stay first."""


def choose_mode(info: Mapping[str, Any]) -> tuple[Mode, str]:
    """Return `walk` for a question in which a walk has linked names, else `mix`; and why, in
    sentences for people. `info`: of the walk.
    """
    note = f" {info['names_note']}" if "names_note" in info else ""
    if not info["linked"]:
        return (
            "mix",
            "The question names no entity of the graph: what walk and mix find is put together."
            f"{note}",
        )
    linked_names = ", ".join(dict.fromkeys(link["said"] for link in info["linked"]))
    return "walk", f"The question names entities of the graph: {linked_names}.{note}"


def with_walked(mixed_result: SearchResult, walk_result: SearchResult) -> SearchResult:
    """Return the entities and relations of `mix` with the chunks of both, fused by rank."""
    chunk_ids = reciprocal_rank_fusion(
        (walk_result.chunk_ids, 1.0), (mixed_result.chunk_ids, MIX_WEIGHT), k=FUSION_K
    )
    return replace(mixed_result, chunk_ids=chunk_ids)
