"""Routes and models of documents: adding, uploading, scanning, listing and deleting them."""
