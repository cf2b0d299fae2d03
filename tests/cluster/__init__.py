"""A cluster of three buses whose servers are killed while a service works: `make cluster
KILLS=50`.
"""
