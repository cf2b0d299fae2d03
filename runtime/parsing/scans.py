"""Has the pages of a file recognized that hold no text, each in a process of its own."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import NamedTuple

import orjson

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, Recognition, paged
from runtime.parsing.kinds import Parser
from runtime.parsing.limits import RECOGNIZING
from runtime.parsing.recognition import RecognitionLimits
from runtime.parsing.sandbox import check_end, parse_apart, run_apart

DOUBTFUL = 0.8
"""The confidence below which a page is said to be read with doubt."""

OnPage = Callable[[int, int], None]
"""Is told how many pages have been recognized, of how many; 0 before the first."""

PageTurn = Callable[[], AbstractAsyncContextManager[object]]
"""Returns what a page waits for and holds while it is recognized."""


def ignore_page(number: int, count: int) -> None:
    """Tell nobody."""


class _Page(NamedTuple):
    """What was recognized on a page; `reason`: why nothing was."""

    text: str = ""
    confidence: float = 0.0
    reason: str = ""


async def read_scan(
    parser: Parser,
    data: bytes,
    limits: RecognitionLimits,
    on_page: OnPage = ignore_page,
    turn: PageTurn = nullcontext,
) -> Content:
    """Return the text of a file, with that of pages that had to be recognized.

    A page that cannot be read loses only itself, and a warning says so. Raises InvalidInput as
    `parse_apart` does, and where there are too many such pages or no text at all; Unavailable when
    the machine starts no process.
    """
    content = await parse_apart(parser, data)
    count = len(content.unread)
    if count > limits.pages:
        raise InvalidInput(
            f"has {count:,} pages to be recognized, at most {limits.pages:,} are "
            "(OCR_MAX_PAGES): split it, or raise that"
        )
    pages: dict[int, _Page] = {}
    if count:
        on_page(0, count)
    for position, number in enumerate(content.unread, 1):
        async with turn():
            pages[number] = await _page(parser, data, number, limits.seconds)
        on_page(position, count)
    return _with_pages(content, pages) if pages else content


async def _page(parser: Parser, data: bytes, number: int, seconds: float) -> _Page:
    """Return what is recognized on the page of that number."""
    try:
        arguments = ["-m", "runtime.parsing.recognition_child", parser, str(number)]
        code, output = await run_apart(arguments, data, seconds)
        check_end(code, output, RECOGNIZING)
    except TimeoutError:
        return _Page(reason=f"takes more than {seconds:.0f} s (OCR_PAGE_TIMEOUT)")
    except InvalidInput as error:
        return _Page(reason=str(error))
    answer = orjson.loads(output)
    text = answer["text"].strip()
    return _Page(text, answer["confidence"], "" if text else "no text was recognized on it")


def _with_pages(content: Content, pages: Mapping[int, _Page]) -> Content:
    """Return the content with the texts of these pages in their places."""
    texts = _texts(content, len(pages))
    read_pages = [page for page in pages.values() if page.text]
    for number, page in pages.items():
        texts[number - 1] = page.text or texts[number - 1]
    result = paged(texts)
    if not result.text:
        raise InvalidInput(f"has no text: {next(iter(pages.values())).reason}")
    is_single = len(texts) == 1
    length = sum(len(page.text) for page in read_pages)
    confidence = sum(page.confidence * len(page.text) for page in read_pages) / max(1, length)
    return content._replace(
        text=result.text,
        pages=() if is_single and not content.pages else result.pages,
        warnings=(*_warnings(pages), *content.warnings),
        unread=(),
        recognition=Recognition(len(read_pages), round(confidence, 2)) if read_pages else None,
    )


def _texts(content: Content, count: int) -> list[str]:
    """Return the texts of all pages; empty ones for the pages of a picture."""
    if not content.pages:
        return [""] * count
    ends = [*content.pages[1:], len(content.text)]
    return [content.text[start:end] for start, end in zip(content.pages, ends, strict=True)]


def _warnings(pages: Mapping[int, _Page]) -> list[str]:
    sentences: list[str] = []
    for number, page in pages.items():
        if page.reason:
            sentences.append(f"page {number} was left out: {page.reason}")
        elif page.confidence < DOUBTFUL:
            sentences.append(
                f"page {number} was recognized with doubt ({page.confidence:.2f} of 1): "
                "look at its text"
            )
    return sentences
