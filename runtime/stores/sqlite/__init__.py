"""SQLite files that several processes read and write at once."""
