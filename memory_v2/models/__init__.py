"""Models: whatever answers a conversation with tool calls."""
