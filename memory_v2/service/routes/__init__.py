"""The addresses of the service: each one checks its document and calls an operation."""
