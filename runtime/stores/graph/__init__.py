"""The graph store: its port, its adapters, and what all adapters do before they write."""
