"""Bringing along what people have: readers of older memories and of notes, the plan, the run, the report."""
