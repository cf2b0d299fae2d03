"""Chunkers and parsers that other packages bring: found by their entry points, run in a process
with limits, and held to what they may return.
"""
