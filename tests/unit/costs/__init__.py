"""Tests of the ledger, prices and budgets."""
