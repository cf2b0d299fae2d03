"""What projections share: checkpoints in their stores, a watch over log and stores, the model of
their vectors.
"""
