"""Points of the past as callers name them."""

from services.gateway.places import Places
from services.query.past.reading import Past


async def sequence_of(past: Past, workspace: str, point: str, places: Places) -> int:
    """Return the sequence of a point; a number is a place as its caller sees it. Raises BadRequest
    where there is none.
    """
    if places.key and point.strip().isdecimal():
        return min(places.sequence(int(point)), await past.log.last(workspace))
    return await past.point(workspace, point)
