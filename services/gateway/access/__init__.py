"""Who may see a document: shown, changed and explained."""
