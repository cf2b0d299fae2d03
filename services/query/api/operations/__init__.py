"""Routes of operators."""
