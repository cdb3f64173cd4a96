"""Search by meaning, for those who install the extra `dense`. Nothing here is imported unless it is chosen."""
