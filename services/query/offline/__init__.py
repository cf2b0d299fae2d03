"""Keywords and answers without a language model: names and words of the question, sentences quoted from passages."""
