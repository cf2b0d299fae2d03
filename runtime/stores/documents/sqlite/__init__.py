"""The document store in one SQLite file."""
