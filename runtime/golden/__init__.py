"""Golden questions: reading and writing them in the log, and judging answers by them."""
