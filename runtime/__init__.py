"""What every process does alike: the bus, the stores, the models, parsing, settings, telemetry. It knows no service."""

import sys
from typing import Any, cast

# nats-py imports aiohttp where it is installed, for WebSockets that nobody here uses: 0.2 s and 11 MB of every process.
# None makes that import fail; runtime/models/http_client.py, for processes that call models, takes it away again.
cast("dict[str, Any]", sys.modules).setdefault("aiohttp", None)
