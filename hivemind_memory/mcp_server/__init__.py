"""The MCP server: tools for agents, over stdio and HTTP. No rules of its own."""
