"""Branches: made, compared, promoted and dropped."""
