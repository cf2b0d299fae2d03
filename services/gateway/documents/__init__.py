"""Documents into the log and out of it: texts, uploads and scans of folders, lists, deletion."""
