"""Any folder of Markdown as a memory to read: nothing in it is changed."""
