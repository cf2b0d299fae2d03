"""What every figure about speed is measured with: real texts with many names, and a model that
computes its answers.
"""
