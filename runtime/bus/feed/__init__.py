"""Watching the log: reading on from a place, by a filter, without consuming anything."""
