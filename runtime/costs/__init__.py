"""What language and embedding models cost: the ledger, prices, and budgets."""
