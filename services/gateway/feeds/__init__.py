"""The routes about events: pages of the log, single events, and the stream of new ones."""
