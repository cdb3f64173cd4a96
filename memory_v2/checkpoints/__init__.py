"""Checkpoints: named points of the history, which can be exported, loaded elsewhere, and gone back to."""
