"""Folding keys again and writing them: what every handler of the merger does in the end."""

from collections.abc import Collection, Mapping, Sequence

from contracts.graph import Entity, Relation, Space
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.descriptions import Described, Limits, describe
from services.merger.domain.edits import Edits, applied
from services.merger.domain.fold import fold, fragments, standing
from services.merger.ports import Merging, Summaries


async def refold(space: Space, raws: Collection[Key], merging: Merging) -> tuple[Edits, dict[Key, int]]:
    """Fold the keys that raw keys belong to, or once belonged to, and write them. Returns their revisions.

    Edits are read again after each counting: whoever counts a key last has read every edit made before.
    """
    edits = applied(await merging.said.edits(space))
    revisions: dict[Key, int] = {}
    while new := edits.keys_ever(raws) - revisions.keys():
        revisions |= await merging.said.revisions(space, sorted(new))
        edits = applied(await merging.said.edits(space))
    ordered = await gathered(space, revisions, edits, merging)
    described = await descriptions(space, ordered, merging.summaries, merging.limits)
    folded = [fold(key, ordered[key], described[key].text, number, edits) for key, number in revisions.items()]
    await merging.graph.put(
        space,
        [thing for thing in folded if isinstance(thing, Entity)],
        [thing for thing in folded if isinstance(thing, Relation)],
    )
    return edits, revisions


async def gathered(
    space: Space, keys: Collection[Key], edits: Edits, merging: Merging
) -> dict[Key, list[Contribution]]:
    """What counts of all that is said about each present key, in canonical order."""
    sources = {key: edits.raws(key) for key in keys}
    found = await merging.said.of(space, {raw for of_key in sources.values() for raw in of_key})
    return {key: standing((c for raw in raws for c in found[raw]), edits) for key, raws in sources.items()}


async def descriptions(
    space: Space, ordered: Mapping[Key, Sequence[Contribution]], summaries: Summaries, limits: Limits
) -> dict[Key, Described]:
    """Each key's description from its fragments and the summaries there are, asked for a level of groups at a time."""
    texts = {key: fragments(contributions) for key, contributions in ordered.items()}
    known: dict[str, str] = {}
    asked: set[str] = set()
    while True:
        described = {key: describe(key, some, known, limits) for key, some in texts.items()}
        lacking = {group.hash for one in described.values() for group in one.lacking} - asked
        if not lacking:
            return described
        known |= await summaries.get(space, lacking)
        asked |= lacking
