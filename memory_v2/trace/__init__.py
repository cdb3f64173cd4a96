"""Traces: the full record of each operation, how it is kept, replayed and told."""
