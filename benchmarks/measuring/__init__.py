"""What all benchmarks measure alike: the mock model, stacks, processes and tables."""
