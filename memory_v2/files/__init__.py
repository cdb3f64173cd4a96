"""Somebody's files as text: which there are in a folder, what each says, and what is left out and why."""
