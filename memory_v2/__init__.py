"""Silica Memory."""
