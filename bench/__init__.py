"""What is measured, one command each, always beside a baseline in the same run."""
