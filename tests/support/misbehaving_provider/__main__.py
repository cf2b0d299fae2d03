"""Serve the provider until it is interrupted: `python -m … [PORT]`."""

import sys
import threading

from tests.support.misbehaving_provider.server import serving


def main() -> None:
    """Serve on the port that was given, or on a free one."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with serving(port) as provider:
        print(provider.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
