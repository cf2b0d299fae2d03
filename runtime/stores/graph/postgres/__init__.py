"""The graph in plain tables of PostgreSQL."""
