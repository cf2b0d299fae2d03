"""What happens, for those who watch: summaries of events, pages of the log, streams of new
events.
"""
