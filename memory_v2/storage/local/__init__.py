"""Pages in a folder of the local disk."""
