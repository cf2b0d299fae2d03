"""Branches over HTTP: which one answers for a workspace."""
