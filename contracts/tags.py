"""Tags of documents: short texts without commas, by which questions are restricted."""

from typing import Annotated

from pydantic import Field

MAX_TAGS = 64
"""Tags of one document, and tags that a question may name."""

Tag = Annotated[str, Field(pattern=r"^[^,\x00-\x1f\x7f]{1,256}$")]
"""A tag as events have it. In the metadata `tags` of a document, commas stand between them."""
