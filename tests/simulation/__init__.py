"""The whole pipeline in one process under a seeded scheduler that reorders, repeats, delays,
interrupts and kills.

The handlers, processors and status are the real ones; bus, stores and model are in memory. One seed
is one run: `python -m tests.simulation --seed 7` repeats it.
"""
