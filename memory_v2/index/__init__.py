"""Full text and links of all pages, derived from them: where a search begins, and what can be deleted at any time."""
