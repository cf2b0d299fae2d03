"""The vector store in Milvus or Milvus Lite."""
