"""Helpers of asyncio: locks by key, a fair semaphore, work isolated in a task of its own."""
