"""A page of a PDF as a picture with passages marked, drawn in a child process with the limits of a
parser.
"""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from runtime.errors import InvalidInput
from runtime.parsing.limits import PARSING
from runtime.parsing.sandbox import check_end, run_apart

MAX_SECONDS = 30.0
MAX_PAGES = 10_000
"""The greatest number of a page: files of more pages are not read. It is repeated here because the
parser of PDF is imported in a child process only.
"""

MAX_MARKED = 4000
"""Characters of a passage that are marked."""


class PagePicture(NamedTuple):
    """A page as WebP. `page_count`: of the file; `mark_top`: where the first mark begins,
    as a share of the height of the page, from above; None without one.
    """

    data: bytes
    page_count: int
    mark_top: float | None


async def draw_page(data: bytes, number: int, passages: Sequence[str]) -> PagePicture:
    """Return the page of that number, from 1, with what it has of the passages marked.

    Raises InvalidInput for a file that cannot be drawn and for a page that it does not have,
    Unavailable when the machine starts no process. It takes up to 1 GiB and a core: how many are
    drawn at once is for the caller to bound.
    """
    passages = [passage[:MAX_MARKED] for passage in passages]
    order = orjson.dumps({"number": number, "passages": passages})
    try:
        arguments = ["-m", "runtime.parsing.page_child"]
        code, output = await run_apart(arguments, order + b"\n" + data, MAX_SECONDS)
    except TimeoutError:
        raise InvalidInput(f"drawing the page takes more than {MAX_SECONDS:.0f} s") from None
    check_end(code, output, PARSING)
    line, _, picture = output.partition(b"\n")
    head = orjson.loads(line)
    return PagePicture(picture, head["count"], head["mark_top"])
