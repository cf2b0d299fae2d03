"""Who reads files: our own parsers, services, plugins; where a service is, and what it reads."""

from dataclasses import dataclass
from typing import Literal

Engine = Literal["native", "docling", "mineru", "plugin"]
"""Who reads a file; `native` is our own parser. LightRAG's `legacy` means the same. `plugin` is the
parser of an installed package.
"""

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
DOCLING_SUFFIXES = (".pdf", ".docx", ".pptx", ".xlsx", ".html", ".htm", ".md", ".csv")
MINERU_SUFFIXES = (".pdf", ".docx", ".gif")
SUFFIXES: dict[Engine, frozenset[str]] = {
    "docling": frozenset([*DOCLING_SUFFIXES, *PICTURE_SUFFIXES]),
    "mineru": frozenset([*MINERU_SUFFIXES, *PICTURE_SUFFIXES]),
}
"""What a service reads; of other files a rule says nothing."""


@dataclass(frozen=True)
class ServiceAddress:
    """Where a service is, and the key it wants; empty for none."""

    url: str
    key: str = ""
