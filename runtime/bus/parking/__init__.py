"""Parked events: their list, which failing messages are put on it, and the reader that takes them
up again.
"""
