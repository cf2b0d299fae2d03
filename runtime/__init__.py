"""What every process does alike: the bus, the stores, the models, parsing, settings, telemetry. It
knows no service.
"""

from runtime.workarounds.aiohttp import load_aiohttp_at_first_use

load_aiohttp_at_first_use()
