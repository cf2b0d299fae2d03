"""Exact search of passages and names, and reading on around a passage."""
