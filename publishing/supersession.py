"""Whether a document supersedes another one, decided by a person, as an ordinary statement."""

import asyncio

from contracts.events import DocumentDeleted, SupersessionStated
from contracts.values import Validity
from publishing.current_version import current_version, existing_id
from publishing.draft import validated
from publishing.statements import publish_statement
from runtime.bus.codec import decode
from runtime.bus.port import Log


async def decide_supersession(
    log: Log,
    *,
    workspace: str,
    decision: SupersessionStated,
    supersedes: str,
    is_accepted: bool,
    source: str,
) -> int | None:
    """Publish what holds of a document now with this supersession added to it or taken out of it,
    under the editor and for the reason of `decision`, and return its sequence; None where the log
    has no such document. Raises Unavailable, and InvalidInput for what cannot hold.
    """
    id = await existing_id(log, workspace=workspace, id=decision.document_id)
    older_id = await existing_id(log, workspace=workspace, id=supersedes)
    current_validity = await _validity(log, workspace, id) or Validity()
    statement = validated(
        lambda: SupersessionStated(
            document_id=id,
            validity=_decided(current_validity, older_id, is_accepted=is_accepted),
            editor=decision.editor,
            reason=decision.reason,
        )
    )
    return await publish_statement(log, workspace=workspace, statement=statement, source=source)


def _decided(validity: Validity, older_id: str, *, is_accepted: bool) -> Validity:
    """Return the validity in which this older document is superseded, or stays in force. Raises
    ValueError where it would name too many.
    """
    superseded_ids = [id for id in validity.supersedes if id != older_id]
    coexisting_ids = [id for id in validity.coexists_with if id != older_id]
    (superseded_ids if is_accepted else coexisting_ids).append(older_id)
    return Validity(
        valid_from=validity.valid_from,
        valid_until=validity.valid_until,
        supersedes=tuple(superseded_ids),
        authority=validity.authority,
        coexists_with=tuple(coexisting_ids),
    )


async def _validity(log: Log, workspace: str, id: str) -> Validity | None:
    """Return what holds of the document by the log: what was stated last, unless it was deleted
    since or that was taken back, else what its version says.
    """
    version, message, deletion = await asyncio.gather(
        current_version(log, workspace, id),
        log.newest(workspace, id, SupersessionStated.type_name()),
        log.newest(workspace, id, DocumentDeleted.type_name()),
    )
    version_validity = version.event.validity if version.event else None
    if message is None or (deletion and deletion.sequence > message.sequence):
        return version_validity
    stated_event = decode(message.data, message.subject, message.headers).data
    assert isinstance(stated_event, SupersessionStated)
    return stated_event.validity or version_validity
