"""Bringing along what people have: readers of older memories and folders of notes, the plan, the run, the report."""
