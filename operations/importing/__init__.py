"""What other systems have made of documents, taken into the log without asking a model."""
