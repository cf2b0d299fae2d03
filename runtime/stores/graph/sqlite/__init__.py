"""The graph in one SQLite file."""
