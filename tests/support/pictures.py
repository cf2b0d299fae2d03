"""Pictures for tests, and files that have them."""

import base64
from io import BytesIO
from typing import Any

import docx
import pypdfium2
from PIL import Image, ImageDraw

from tests.support.pdf_files import drawn


def picture(width: int = 200, height: int = 120, kind: str = "PNG", bar: int = 80) -> bytes:
    """A picture of one bar as a file; another `bar`, in pixels, makes another picture."""
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).rectangle((10, height - bar, width // 2, height), fill="navy")
    output = BytesIO()
    image.save(output, kind)
    return output.getvalue()


def inline(data: bytes) -> str:
    """The address that holds a picture itself."""
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def word_file(*pictures: bytes, caption: str = "Figure 1. The catch of herring.") -> bytes:
    """A Word document with these pictures, each below a sentence."""
    document: Any = docx.Document()
    for number, data in enumerate(pictures, 1):
        document.add_paragraph(f"The tide gauge {number} stands at Port Elm.")
        document.add_picture(BytesIO(data))
    document.add_paragraph(caption)
    output = BytesIO()
    document.save(output)
    return output.getvalue()


def pdf_with_picture(data: bytes) -> bytes:
    """A page with a picture between a line of text and its caption."""
    text = (
        "BT /F1 12 Tf 72 760 Td (The gauge at Port Elm.) Tj ET "
        "BT /F1 12 Tf 72 480 Td (Figure 1. The catch of herring.) Tj ET"
    )
    document = pypdfium2.PdfDocument(drawn(text))
    page = document[0]
    image = pypdfium2.PdfImage.new(document)
    image.set_bitmap(pypdfium2.PdfBitmap.from_pil(Image.open(BytesIO(data)).convert("RGB")))
    image.set_matrix(pypdfium2.PdfMatrix().scale(300, 200).translate(72, 520))
    page.insert_obj(image)
    page.gen_content()
    output = BytesIO()
    document.save(output)
    return output.getvalue()
