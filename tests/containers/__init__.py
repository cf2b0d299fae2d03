"""Containers as they are deployed: `make compose-test` runs these, `make test` does not. Skips
without podman.
"""
