"""Branches: what a workspace would be like had another model, prompt or chunking been used.

A branch is a workspace of its own, whose log begins with BranchCreated.
"""

from pydantic import Field

from contracts.chunking import Chunking
from contracts.events.base import Event
from contracts.values import Value

BRANCH = "_branch"
"""Aggregate id of what is said of branches."""

MAX_INSTRUCTIONS = 64 * 1024
"""Characters of a prompt, and of a file with types of entities."""


class BranchSettings(Value):
    """How the documents of a branch are worked on; what is not said here is as in its origin."""

    extract_model: str = Field(
        default="", max_length=256, description="name of the model, at the endpoint of extraction"
    )
    prompt: str = Field(
        default="", max_length=MAX_INSTRUCTIONS, description="instructions of extraction"
    )
    entity_types: str = Field(
        default="", max_length=MAX_INSTRUCTIONS, description="YAML, as ENTITY_TYPE_PROMPT_FILE has"
    )
    chunking: Chunking | None = None


class BranchCreated(Event):
    """A workspace follows the documents of another one, its origin, with settings of its own."""

    name: str = Field(min_length=1, max_length=32)
    origin: str = Field(min_length=1, max_length=64, description="the workspace that it follows")
    settings: BranchSettings
    sample: int | None = Field(default=None, ge=1, description="documents of it; absent: all")
    sampled_up_to: str = Field(
        default="",
        max_length=64,
        description=(
            "greatest SHA-256 of the id of a document in the sample, in hexadecimal; those that "
            "come later are in it up to this one"
        ),
    )
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return BRANCH


class BranchDropped(Event):
    """A branch ended, and takes no documents any more. Everything else of its log is erased."""

    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return BRANCH


class BranchPromoted(Event):
    """Questions to this workspace are answered by a branch of it from now on; without a name by the
    workspace itself.
    """

    name: str = Field(default="", max_length=32)
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return BRANCH
