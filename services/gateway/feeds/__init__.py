"""Events for those who watch: pages of the log, single events, and the stream of new ones."""
