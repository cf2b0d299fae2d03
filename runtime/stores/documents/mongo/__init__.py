"""The document store in MongoDB."""
