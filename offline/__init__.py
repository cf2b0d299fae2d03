"""What works without a key: language analysis, extraction, answers and embeddings, by rules and by
a small model that comes with the package. `README.md` says where each is.
"""
