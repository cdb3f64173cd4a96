"""Values and pure functions: what a page is, what it consists of, and how it changes. No I/O."""
