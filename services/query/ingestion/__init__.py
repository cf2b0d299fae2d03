"""Documents into and out of the log: adding texts, reading uploads, scanning folders, removing and reprocessing."""
