"""Receipts of answers in the log: their ids, how they are read, what an erasure leaves of them."""
