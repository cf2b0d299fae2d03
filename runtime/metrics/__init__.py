"""What a process counts of its work, and `/metrics`, where Prometheus reads it."""
