"""Batches of calls: a provider answers them within a day, at half the price."""
