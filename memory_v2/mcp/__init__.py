"""The memory as an MCP server, over stdio and HTTP: a thin face over the tools. It needs the extra `mcp`."""
