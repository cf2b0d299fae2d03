"""HTTP: what operators do, under `/operations`. One module for each subject, with a router of its own."""
