"""The index: full text and links of all pages. It is derived from the pages and can be deleted at any time."""
