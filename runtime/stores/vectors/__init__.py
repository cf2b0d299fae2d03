"""The vector store: its port, its adapters, and the fields and names that all adapters share."""
