"""What every projection has: checkpoints in its stores, a watch over log and stores, the embedding model of its vectors."""
