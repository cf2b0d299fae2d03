"""Erasing documents for good: out of the log, beside it, out of every store, and out of the files
that hold them.
"""
