"""The command `lightstream`, and `python -m lightstream_rag`."""

import atexit
import gc
import sys

NOT_INSTALLED = """lightstream: `{name}` is not installed: here is the Python client alone.
With the command line: pip install 'lightstream-rag[embedded]'
Without installing:    uvx 'lightstream-rag[embedded]' demo
"""


COLLECT_AFTER = 50_000
"""Objects made and not freed until Python looks for cycles among the newest; its own number is 700.
"""


def main() -> None:
    """Entry point. Says what to install where the command line's own parts are missing."""
    # What a command imports it keeps until it ends: to look for cycles in it, meanwhile and at the
    # end, was a third of the CPU of `status`.
    gc.set_threshold(COLLECT_AFTER)
    atexit.register(gc.freeze)
    try:
        # The one place where this package knows the command line: in the wheel it is its outermost.
        from cli import main as command_line  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "dotenv"):
            raise
        sys.exit(NOT_INSTALLED.format(name=error.name))
    command_line()


if __name__ == "__main__":
    main()
