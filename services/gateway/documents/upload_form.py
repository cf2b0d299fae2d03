"""The form of an upload, and its options, which stand in the address and the headers."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Header, Query

from contracts.access import PrincipalName, access_of
from services.gateway.documents.models import ACCESS
from services.gateway.documents.uploading import UploadOptions

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=256,
        description="requests with this key are one, for a day",
    ),
]

UPLOAD_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "encoding": {
                            "type": "string",
                            "description": (
                                "of a file that is text, as windows-1252; without it, it is "
                                "detected"
                            ),
                        },
                    },
                }
            }
        },
    }
}
"""The form in the OpenAPI document. FastAPI would read a declared parameter whole, before any limit
applies.
"""


async def upload_options(
    key: IdempotencyKey = None,
    replace: Annotated[
        bool, Query(description="another text under a name that is there is its new version")
    ] = False,
    folders: Annotated[
        bool,
        Query(
            description=(
                "the name keeps its folders: `a/README.md` and `b/README.md` are two documents"
            )
        ),
    ] = False,
    allow: Annotated[Sequence[PrincipalName], Query(description=ACCESS)] = (),
    deny: Annotated[Sequence[PrincipalName], Query(description="wins over `allow`")] = (),
) -> UploadOptions:
    """Return the options of an upload."""
    return UploadOptions(key, replace, folders, access_of(allow, deny))
