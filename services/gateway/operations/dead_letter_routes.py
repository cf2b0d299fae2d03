"""The routes about dead letters: list them, read one, try some again, remove some."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from contracts.events import Stage
from runtime.bus.dead_letters import DeadLetter
from services.gateway.auth.audit import note_details
from services.gateway.caller_places import CallerPlaces
from services.gateway.operations.dead_letters import (
    drop_letters,
    list_letters,
    read_letters,
    redrive_letters,
)
from services.gateway.operations.dependencies import OperationDeps, WorkspaceDeps
from services.gateway.operations.scope import ChosenWorkspace
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel

router = APIRouter()

MAX_LISTED = 1000
"""Dead letters in one answer."""

Number = Annotated[int, Field(ge=1, le=2**53)]


class Letter(BaseModel):
    """One message that one consumer has given up."""

    number: int
    at: datetime
    stage: str
    consumer: str
    reason: str
    sequence: int = Field(description="its place in the log; 0 for one that was never there")
    subject: str

    @classmethod
    def of(cls, letter: DeadLetter) -> "Letter":
        """Return a letter without its bytes."""
        return cls.model_validate(letter, from_attributes=True)


class WholeLetter(Letter):
    """A dead letter with its bytes."""

    data: str = Field(description="its bytes as text; what is no UTF-8 is replaced")


class LetterList(BaseModel):
    """Dead letters, newest first; `total` counts also those that are not listed."""

    dead_letters: list[Letter]
    total: int


class LetterNumbers(StrictModel):
    """The numbers of dead letters, and why, for whoever reads the log later."""

    numbers: list[Number] = Field(min_length=1, max_length=1000, examples=[[7]])
    reason: str = Field(default="", max_length=1000, examples=["the model answers again"])


class Redriven(BaseModel):
    """Letters that are tried again, and those that stay: their document has a newer version, or was
    deleted.
    """

    redriven: list[int]
    obsolete: list[int]


class Dropped(BaseModel):
    """Letters that were removed."""

    dropped: list[Letter]


@router.get("/dead_letters")
async def list_dead_letters(
    operations: OperationDeps,
    workspace: ChosenWorkspace,
    places: CallerPlaces,
    stage: Annotated[Stage | None, Query(description="only what this service has given up")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 100,
) -> LetterList:
    """Return the dead letters of the workspace. Those that name no workspace are only among all of
    the deployment.
    """
    letters = await list_letters(operations.dead_letters, workspace, stage)
    page = LetterList(
        dead_letters=[Letter.of(letter) for letter in letters[:limit]], total=len(letters)
    )
    return places.shown_in(page)


@router.get("/dead_letters/{number}", responses=error_responses(404))
async def read_dead_letter(
    operations: OperationDeps,
    workspace: ChosenWorkspace,
    places: CallerPlaces,
    number: Annotated[int, Path(ge=1, le=2**53, examples=[7])],
) -> WholeLetter:
    """Return one dead letter with its bytes."""
    (letter,) = await read_letters(operations.dead_letters, workspace, [number])
    whole_letter = WholeLetter(
        **Letter.of(letter).model_dump(), data=letter.data.decode("utf-8", "replace")
    )
    return places.shown_in(whole_letter)


@router.post("/dead_letters/redrive", responses=error_responses(404))
async def redrive_dead_letters(
    request: Request,
    body: LetterNumbers,
    operations: OperationDeps,
    deps: WorkspaceDeps,
    workspace: ChosenWorkspace,
) -> Redriven:
    """Try the messages again where they failed, after the cause is mended, and take them off the
    list.
    """
    note_details(request, numbers=body.numbers, reason=body.reason)
    obsolete = await redrive_letters(
        operations.dead_letters, deps.log, workspace, body.numbers, body.reason
    )
    return Redriven(
        redriven=[number for number in body.numbers if number not in obsolete], obsolete=obsolete
    )


@router.post("/dead_letters/drop", responses=error_responses(404))
async def drop_dead_letters(
    request: Request,
    body: LetterNumbers,
    operations: OperationDeps,
    workspace: ChosenWorkspace,
    places: CallerPlaces,
) -> Dropped:
    """Remove dead letters for good. The log keeps the events; only a retry can try them again
    then.
    """
    note_details(request, numbers=body.numbers, reason=body.reason)
    dropped_letters = await drop_letters(operations.dead_letters, workspace, body.numbers)
    return places.shown_in(Dropped(dropped=[Letter.of(letter) for letter in dropped_letters]))
