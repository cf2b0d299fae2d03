"""Collects what may be an alias and is not decided: what rules find in the names of the graph, what
others proposed.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from contracts.graph import Entity
from runtime.batching import batched
from runtime.stores.graph.port import Graph
from services.gateway.graph.alias_rules import RULES, SYMMETRIC, AliasRule, Pair, definition, pairs
from services.gateway.graph.aliases import Alias, decided
from services.query.partitions import Partitions
from services.query.retrieval.port import EntityAliases
from services.query.status.port import Passages

MAX_NAMES = 200_000
"""Names of one workspace that rules look at, the first of the store."""
MAX_PAIRS = 2000
"""Pairs whose entities are read at most for one list."""
SHARED_PASSAGES = 3
"""Passages that name both, in which an abbreviation is looked for."""
SPEAKING_INITIALS = 3
"""Letters from which on initials alone propose an abbreviation; fewer must stand in brackets in a
text.
"""
PAGE = 1000


@dataclass(frozen=True)
class AliasProposal:
    """A name that may mean the entity `target`. `support`: chunks that speak of one or the
    other.
    """

    name: str
    target: str
    proposed_by: str
    evidence: str = ""
    support: int = 0


@dataclass(frozen=True)
class AliasSources:
    """What proposals are made of."""

    graph: Graph
    passages: Passages
    aliases: EntityAliases


async def proposals(
    sources: AliasSources,
    partitions: Partitions,
    *,
    limit: int,
    rules: Collection[AliasRule] = RULES,
) -> list[AliasProposal]:
    """Return at most `limit` undecided proposals of people, models and these rules, the surest
    first.

    What was rejected does not come again, in neither direction. Reads every name of the workspace.
    """
    standing = decided(await sources.aliases.edits(partitions.graph))
    closed_pairs = {
        frozenset((alias.name, alias.target)) for alias in standing if alias.state != "proposed"
    }
    proposed_aliases = [
        alias
        for alias in standing
        if alias.state == "proposed" and not {frozenset((alias.name, alias.target))} & closed_pairs
    ]
    typed_names = await _named(sources.graph, partitions)
    known_pairs = closed_pairs | {
        frozenset((alias.name, alias.target)) for alias in proposed_aliases
    }
    candidates = [
        pair
        for pair in pairs(typed_names, rules)
        if frozenset((pair.name, pair.target)) not in known_pairs
    ][:MAX_PAIRS]
    entities = await _entities(
        sources.graph, partitions, {name for pair in candidates for name in pair[:2]}
    )
    new_proposals = [await _proposal(sources, partitions, pair, entities) for pair in candidates]
    return sorted((*map(_of_alias, proposed_aliases), *filter(None, new_proposals)), key=_order)[
        :limit
    ]


async def _named(graph: Graph, partitions: Partitions) -> list[tuple[str, str]]:
    typed_names: list[tuple[str, str]] = []
    while len(typed_names) < MAX_NAMES and (
        page := await graph.scan_names(partitions.graph, typed_names[-1][0] if typed_names else "")
    ):
        typed_names += page
    return sorted(typed_names)


async def _entities(
    graph: Graph, partitions: Partitions, names: Iterable[str]
) -> dict[str, Entity]:
    entities: dict[str, Entity] = {}
    for page in batched(sorted(names), PAGE):
        entities |= await graph.entities(partitions.graph, page)
    return entities


async def _proposal(
    sources: AliasSources, partitions: Partitions, pair: Pair, entities: dict[str, Entity]
) -> AliasProposal | None:
    """Return the proposal of a pair; None where an entity went meanwhile, or two letters have no
    text behind them.
    """
    if pair.name not in entities or pair.target not in entities:
        return None
    entity = entities[pair.name]
    target = entities[pair.target]
    if pair.rule in SYMMETRIC and (entity.support, target.name) > (target.support, entity.name):
        entity, target = target, entity
    evidence = ""
    if pair.rule == "abbreviation":
        evidence = await _definition(sources, partitions, entity, target)
        if not evidence and len(entity.name.replace(".", "")) < SPEAKING_INITIALS:
            return None
    return AliasProposal(
        entity.name, target.name, f"rule:{pair.rule}", evidence, entity.support + target.support
    )


async def _definition(
    sources: AliasSources, partitions: Partitions, entity: Entity, target: Entity
) -> str:
    """Return where descriptions, or passages that name both, say `one (other)`; empty if
    nowhere.
    """
    shared_chunks = [chunk for chunk in entity.source_ids if chunk in target.source_ids][
        :SHARED_PASSAGES
    ]
    texts: Sequence[str] = (entity.description, target.description)
    sentence = next(
        filter(None, (definition(text, entity.name, target.name) for text in texts)), ""
    )
    if sentence or not shared_chunks:
        return sentence
    passages = await sources.passages.get(partitions.status, shared_chunks)
    texts = [passages[chunk].content for chunk in shared_chunks if chunk in passages]
    return next(filter(None, (definition(text, entity.name, target.name) for text in texts)), "")


def _of_alias(alias: Alias) -> AliasProposal:
    return AliasProposal(
        alias.name, alias.target, alias.proposed_by or alias.editor, alias.evidence
    )


def _order(proposal: AliasProposal) -> tuple[bool, int, int, str, str]:
    """Return what sorts proposals: those of people and with evidence first, then by rule, then by
    support.
    """
    rule = proposal.proposed_by.removeprefix("rule:")
    rank = RULES.index(rule) + 1 if rule in RULES else 0
    return (
        bool(rank) and not proposal.evidence,
        rank,
        -proposal.support,
        proposal.name,
        proposal.target,
    )
