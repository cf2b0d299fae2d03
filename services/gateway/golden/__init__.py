"""Golden questions, their runs, and feedback."""
