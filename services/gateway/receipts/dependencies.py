"""What the routes of receipts work with."""

from dataclasses import dataclass
from typing import Annotated

from runtime.bus.port import Log
from services.gateway.dependencies import depends_on


@dataclass(frozen=True)
class ReceiptDependencies:
    """The log that has the receipts."""

    log: Log


ReceiptDeps = Annotated[ReceiptDependencies, depends_on(ReceiptDependencies)]
