"""Tests that need a running stack and leave it whole: one stack for all, one worker, a workspace
for each test.
"""
