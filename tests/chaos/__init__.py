"""The real stack under load while its processes are killed and frozen, its disk is full, its model
is away.

`faults` says what goes wrong and draws it from a seed, `trial` lets it go wrong while documents are
indexed and compares the end with that of an undisturbed stack, `python -m tests.chaos` (`make
chaos`) runs many trials.
"""
