"""The vector store in Qdrant."""
