"""The status projection: it folds every event into the state of each document and stores the
passages of chunks.

Here stands what a document's status means, and the position up to which answers are complete. No
HTTP, no driver.
"""
