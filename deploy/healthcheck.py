"""Whether the service in this container is ready: code 0 when it is, else 1 and what it says keeps
it from being so.
"""

import os
import sys
import urllib.error
import urllib.request


def problem(port: str) -> str:
    """What keeps the service on that port from being ready; empty when it is."""
    # Straight to this container, whatever proxies the environment names.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/health/ready", timeout=4):
            return ""
    except urllib.error.HTTPError as error:
        return error.read().decode("utf-8", "replace")
    except OSError as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(problem(os.environ["PORT"]) or 0)
