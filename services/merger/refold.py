"""Folding keys again and writing them: what every handler of the merger does in the end."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from contracts.graph import Entity, Partition, Relation
from runtime.errors import Retryable
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.descriptions import Described, Limits, describe
from services.merger.domain.edits import Edits, applied
from services.merger.domain.fold import Tally, fold, fragments, standing, tally
from services.merger.domain.hub import Hub
from services.merger.port import Merging, Summaries

MOST_TURNS = 100
"""Reads of summaries for one batch. A level of groups takes one, and so does each change that others make meanwhile."""


@dataclass(frozen=True)
class Account:
    """What is made of all that chunks say about one present key."""

    counted: Tally
    described: Described


@dataclass(frozen=True)
class _Found:
    """What accounts are made of: hubs, and of all other keys what counts, in canonical order."""

    hubs: Mapping[Key, Hub] = field(default_factory=dict[Key, Hub])
    ordered: Mapping[Key, list[Contribution]] = field(default_factory=dict[Key, list[Contribution]])


async def refold(
    space: Partition, changed: Mapping[Key, Collection[str]], merging: Merging, summarized: Collection[str] = ()
) -> tuple[Edits, dict[Key, int]]:
    """Fold the keys that raw keys belong to, or once belonged to, and write them. Returns their revisions.

    `changed`: by raw key the chunks of which the caller has changed, or may have, what they say about it;
    `summarized`: the hashes of groups whose summaries the caller has put.
    Edits are read again after each counting: whoever counts a key last has read every edit made before.
    """
    edits = applied(await merging.said.edits(space))
    revisions: dict[Key, int] = {}
    while new := edits.keys_ever(changed) - revisions.keys():
        revisions |= await merging.said.revisions(space, sorted(new))
        edits = applied(await merging.said.edits(space))
    told = {key: (number, edits.folded(key)) for key, number in revisions.items() if edits.touch(key)}
    if told:
        await merging.said.put_folded(space, told)
    hubs = await _advanced(space, revisions, edits, merging, changed, summarized)
    accounts = await _accounts(space, revisions, edits, merging, hubs)
    folded = [
        fold(key, accounts[key].counted, accounts[key].described.text, number, edits)
        for key, number in revisions.items()
    ]
    await merging.graph.put(
        space,
        [thing for thing in folded if isinstance(thing, Entity)],
        [thing for thing in folded if isinstance(thing, Relation)],
    )
    return edits, revisions


async def accounts_at(
    space: Partition, revisions: Mapping[Key, int], edits: Edits, merging: Merging
) -> dict[Key, Account]:
    """What is said of each present key. The revisions and the edits were read just now, the revisions first."""
    return await _accounts(space, revisions, edits, merging, merging.hubs.at(space, _alone(revisions, edits)))


def _alone(revisions: Mapping[Key, int], edits: Edits) -> dict[Key, int]:
    """Those keys that are folded from one raw key of the same names, nothing of which people have hidden."""
    return {key: number for key, number in revisions.items() if edits.leave_alone(key)}


async def _advanced(
    space: Partition,
    revisions: Mapping[Key, int],
    edits: Edits,
    merging: Merging,
    changed: Mapping[Key, Collection[str]],
    summarized: Collection[str],
) -> dict[Key, Hub]:
    """The hubs that nobody else has counted since, with our own change: see `hubs.py` for why that is all of it.

    The change is read back after counting. Between that and the last line nobody else advances these hubs: it would
    have to be given the same number.
    """
    before = {key: number - 1 for key, number in _alone(revisions, edits).items()}
    hubs = merging.hubs.at(space, before)
    said = await merging.said.among(space, {key: changed.get(key, ()) for key in hubs})
    known = await merging.summaries.get(space, summarized) if summarized and hubs else {}
    for key, hub in hubs.items():
        hub.put(said[key])
        hub.learn(known)
        hub.revision = revisions[key]
    merging.hubs.keep(space, hubs.values())
    return hubs


async def _accounts(
    space: Partition, revisions: Mapping[Key, int], edits: Edits, merging: Merging, hubs: Mapping[Key, Hub]
) -> dict[Key, Account]:
    """What is said of each present key: hubs as they are, everything else read in full."""
    sources = {key: edits.raws(key) for key in revisions.keys() - hubs.keys()}
    read = await merging.said.of(space, {raw for of_key in sources.values() for raw in of_key})
    alone = _alone(revisions, edits)
    new = {
        key: _hub(key, alone[key], read[key], merging.limits)
        for key in sources
        if key in alone and len(read[key]) >= merging.hubs.least
    }
    merging.hubs.keep(space, new.values())
    ordered = {
        key: standing((c for raw in raws for c in read[raw]), edits) for key, raws in sources.items() if key not in new
    }
    found = _Found({**hubs, **new}, ordered)
    described = await _described(space, found, merging.summaries, merging.limits)
    return {key: Account(found.hubs[key].tally(), described[key]) for key in found.hubs} | {
        key: Account(tally(some), described[key]) for key, some in ordered.items()
    }


def _hub(key: Key, revision: int, said: Collection[Contribution], limits: Limits) -> Hub:
    hub = Hub(key, limits)
    hub.put(said)
    hub.revision = revision
    return hub


async def _described(space: Partition, found: _Found, summaries: Summaries, limits: Limits) -> dict[Key, Described]:
    """Each key's description from its fragments and the summaries there are, asked for a level of groups at a time."""
    texts = {key: fragments(contributions) for key, contributions in found.ordered.items()}
    known: dict[str, str] = {}
    asked: set[str] = set()
    for _ in range(MOST_TURNS):
        described = {key: describe(key, some, known, limits) for key, some in texts.items()}
        lacking = {group.hash for one in described.values() for group in one.lacking} - asked
        asking = [(hub, hub.revision, hub.fragments, hub.fragments.unasked()) for hub in found.hubs.values()]
        if not (wanted := lacking.union(*(hashes for *_, hashes in asking))):
            return described | {key: hub.fragments.described() for key, hub in found.hubs.items()}
        new = await summaries.get(space, wanted)
        known |= new
        asked |= wanted
        for hub, revision, tree, hashes in asking:
            # Another task may have put a summary while we asked: then this is no news any more, and is asked again.
            if hub.revision == revision:
                tree.learn(new, hashes)
    raise Retryable("the summaries of a thing change faster than they can be read")
