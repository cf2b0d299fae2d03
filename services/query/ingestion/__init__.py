"""Adds documents to the log and removes them: texts, uploads and scans of folders; deletion and
reprocessing.
"""
