"""aiohttp, for processes that call models. `runtime/__init__.py` keeps it out of all others."""

import sys

if not sys.modules.get("aiohttp", sys):
    del sys.modules["aiohttp"]

import aiohttp

__all__ = ["aiohttp"]
