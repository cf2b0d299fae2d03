"""Tests that kill or freeze processes of a stack, which must recover: one stack for all, one
worker.
"""
