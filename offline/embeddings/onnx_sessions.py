"""Sessions of onnxruntime, whose import switches its reports to its maker off first."""

import os
from typing import Any, cast

# It would tell its maker of every model that is loaded, on a thread of its own.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime


def session(content: bytes) -> Any:
    """Return what runs a model, on one core per run: texts run side by side instead."""
    options = cast(Any, onnxruntime.SessionOptions())
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
