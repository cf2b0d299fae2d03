"""Receipts: what each answer rests on, as an event that is published once the answer has ended."""
