"""The child process that recognizes one page of a file.

`python -m runtime.parsing.recognition_child picture 1` reads the file from standard input, and
writes the text and how sure that is as JSON.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import orjson
from PIL import Image

from runtime.parsing.child import serve
from runtime.parsing.limits import RECOGNIZING
from runtime.parsing.pdf_columns import Line
from runtime.parsing.reading_order import in_reading_order

LONGEST_SIDE = 2000
"""Pixels of a page; characters of 8 points on A4 are 20 high then."""

DETECTED_SIDE = 1280
"""Pixels of the copy in which lines are looked for: memory grows with its area."""

UPRIGHT = 0.8
"""The confidence below which a page is likely to lie upside down."""


_Box = Sequence[tuple[float, float]]
"""The corners of a line, from the upper left one on; downwards."""


class _Reading(NamedTuple):
    lines: Sequence[Line]
    confidence: float
    """0 to 1, over all characters."""
    is_sideways: bool


def main() -> None:
    """Entry point of the child."""
    parser, number = sys.argv[1], int(sys.argv[2])
    # Buffers of further threads would count against the memory.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    serve(lambda: _recognizer(parser, number), RECOGNIZING)


def _recognizer(parser: str, number: int) -> Callable[[bytes], bytes]:
    page_image = import_module(f"runtime.parsing.{parser}").page_image
    engine = _engine()

    def recognize(data: bytes) -> bytes:
        image: Image.Image = page_image(data, number, LONGEST_SIDE)
        reading = _upright_reading(engine, image)
        text = in_reading_order(reading.lines, image.width)
        return orjson.dumps({"text": text, "confidence": reading.confidence})

    return recognize


def _engine() -> Any:
    """Return the library with what it is to do; it loads the models when it is called."""
    import cv2  # noqa: PLC0415
    import rapidocr  # noqa: PLC0415

    cv2.setNumThreads(1)
    models = Path(rapidocr.__file__).parent / "models"
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": LONGEST_SIDE,
            # It turns lines by 180 degrees that stand upright; a page is turned as a whole here.
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # Named, so that nothing is ever fetched.
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
            "Det.limit_type": "max",
            "Det.limit_side_len": DETECTED_SIDE,
            "Rec.rec_batch_num": 1,
        }
    )


def _upright_reading(engine: Any, image: Image.Image) -> _Reading:
    """Return what the page says; one that lies on its side or head is turned."""
    reading = _read(engine, image)
    if reading.is_sideways:
        # Lines that run upwards are read by turning them; the other way they are upside down.
        is_head_left = reading.confidence >= UPRIGHT
        turn = Image.Transpose.ROTATE_90 if is_head_left else Image.Transpose.ROTATE_270
        return _read(engine, image.transpose(turn))
    if reading.lines and reading.confidence < UPRIGHT:
        turned_reading = _read(engine, image.transpose(Image.Transpose.ROTATE_180))
        return max(reading, turned_reading, key=lambda result: result.confidence)
    return reading


def _read(engine: Any, image: Image.Image) -> _Reading:
    import numpy  # noqa: PLC0415

    result = engine(numpy.asarray(image)[:, :, ::-1].copy())
    if result.txts is None:
        return _Reading((), 0.0, is_sideways=False)
    boxes: list[_Box] = result.boxes.tolist()
    lines = [
        _level_line(box, text, _slope(boxes)) for box, text in zip(boxes, result.txts, strict=True)
    ]
    tall_lines = sum(
        line.top - line.bottom > 1.5 * (line.right_edge - line.left_edge) for line in lines
    )
    lengths = [len(line.text) for line in lines]
    score_sum = sum(score * length for score, length in zip(result.scores, lengths, strict=True))
    return _Reading(lines, score_sum / max(1, sum(lengths)), 2 * tall_lines > len(lines))


def _slope(boxes: Sequence[_Box]) -> float:
    """Return how much the lines of a page fall to the right, as a part of their length."""
    wide_boxes = [box for box in boxes if box[1][0] - box[0][0] > abs(box[3][1] - box[0][1])]
    slopes = [(box[1][1] - box[0][1]) / (box[1][0] - box[0][0]) for box in wide_boxes]
    return median(slopes) if slopes else 0.0


def _level_line(box: _Box, text: str, slope: float) -> Line:
    """Return the line as it would stand on a page that was laid straight; upwards, as PDF has
    it.
    """
    across = [x + slope * y for x, y in box]
    down = [y - slope * x for x, y in box]
    return Line(min(across), -max(down), max(across), -min(down), text.strip())


if __name__ == "__main__":
    main()
