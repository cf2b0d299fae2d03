"""What is found by its words, its place and its relations, without a model."""
