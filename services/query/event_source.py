"""The CloudEvents source of this service's events."""

SOURCE = "lightstream/api"
"""`source` of the events that requests over HTTP cause."""
