"""python-pptx 1.0.2: `Presentation` opens no slide show and no template, whose parts are the same.

Of those with macros it does not know the main part either. Upstream: none found.
May go when `test_a_slide_show_is_no_presentation` fails (`tests/unit/runtime/test_workarounds.py`).
"""

from io import BytesIO
from typing import cast

from pptx.opc.package import PartFactory
from pptx.package import Package
from pptx.parts.presentation import PresentationPart
from pptx.presentation import Presentation

_POWERPOINT = "application/vnd.ms-powerpoint"

PartFactory.part_type_for.update(
    {
        f"{_POWERPOINT}.slideshow.macroEnabled.main+xml": PresentationPart,
        f"{_POWERPOINT}.template.macroEnabled.main+xml": PresentationPart,
    }
)


def opened_presentation(file: BytesIO) -> Presentation:
    """Return the presentation, slide show or template in a file. Raises LookupError for another
    kind.
    """
    part = cast("object", Package.open(file).main_document_part)
    if not isinstance(part, PresentationPart):
        raise LookupError("no presentation")
    return part.presentation
