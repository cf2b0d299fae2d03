"""What the routes of receipts work with."""

from dataclasses import dataclass
from typing import Annotated

from runtime.bus.port import LiveGenerations, Log
from services.gateway.dependencies import depends_on
from services.query.questions.port import Questions


@dataclass(frozen=True)
class ReceiptDependencies:
    """The log that has the receipts, and what asks their questions once more."""

    log: Log
    questions: Questions
    pointers: LiveGenerations


ReceiptDeps = Annotated[ReceiptDependencies, depends_on(ReceiptDependencies)]
