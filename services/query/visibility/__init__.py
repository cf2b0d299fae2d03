"""Which documents are hidden from a reader: the one place that every reader passes."""
