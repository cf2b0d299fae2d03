"""Sources of documents: what each kind lists and reads, and what keeps the log in step with it."""
