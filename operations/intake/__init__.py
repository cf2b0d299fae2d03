"""The intake: files that other systems hand in on the bus become documents of the log."""
