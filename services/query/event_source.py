"""Who the events of this service come from."""

SOURCE = "lightstream/api"
"""`source` of the events that come in over HTTP."""
