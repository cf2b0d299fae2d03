"""Receipts of answers over HTTP."""
