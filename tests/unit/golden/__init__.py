"""Golden questions: files, judging, runs and feedback."""
