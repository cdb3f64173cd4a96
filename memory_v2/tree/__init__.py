"""Values and pure functions: what a page is, what it is made of, and how it is changed. No input, no output."""
