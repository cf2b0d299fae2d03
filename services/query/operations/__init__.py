"""What operators do with a running deployment: look at its projections, and try again what
failed.
"""
