"""Repairs a log: what the archive or a backup has of it comes back to its own sequence."""
