"""The vector store in one SQLite file."""
