"""Pages as a scanner gives them: drawn with a font, turned a little, blurred and noisy."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pypdfium2
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from tests.support.pdf_files import pdf

TEXT = Path(__file__).parents[2] / "benchmarks/answers_data/texts/constitution.txt"
"""In the public domain."""

SIZE = (1240, 1754)
"""A4 in 150 dots an inch."""


def prose(count: int, width: int = 70) -> list[str]:
    """So many lines of the text, each of about as many characters as `width`."""
    lines = [""]
    for word in TEXT.read_text("utf-8").split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines[:count]


def scan(
    lines: Sequence[str], angle: float = 1.2, size: tuple[int, int] = SIZE, noise: int = 24
) -> Image.Image:
    """The page with these lines, turned by degrees."""
    page = Image.new("L", size, 255)
    draw = ImageDraw.Draw(page)
    for row, line in enumerate(lines):
        draw.text((90, 90 + 44 * row), line, 20, ImageFont.load_default(28))
    page = page.rotate(angle, Image.Resampling.BICUBIC, expand=angle % 90 == 0, fillcolor=255)
    page = page.filter(ImageFilter.GaussianBlur(0.8))
    return Image.blend(page, Image.effect_noise(page.size, 2 * noise), noise / 255)


def file_of(*pages: Image.Image, kind: str = "PNG") -> bytes:
    """The pages as one file; several only as TIFF."""
    output = BytesIO()
    further = {"save_all": True, "append_images": pages[1:]} if len(pages) > 1 else {}
    pages[0].save(output, kind, **further)
    return output.getvalue()


def scanned_pdf(first_page: str, *pages: Image.Image) -> bytes:
    """A page with a text, a blank one, and these."""
    document = pypdfium2.PdfDocument(pdf(first_page, ""))
    for picture in pages:
        page = document.new_page(595, 842)
        image = pypdfium2.PdfImage.new(document)
        image.set_bitmap(pypdfium2.PdfBitmap.from_pil(picture.convert("RGB")))
        image.set_matrix(pypdfium2.PdfMatrix().scale(595, 842))
        page.insert_obj(image)
        page.gen_content()
    output = BytesIO()
    document.save(output)
    return output.getvalue()
