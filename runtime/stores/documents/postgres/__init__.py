"""Rows in PostgreSQL."""
