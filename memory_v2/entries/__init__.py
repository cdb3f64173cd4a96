"""Entries: short, dated, append-only observations beside the pages."""
