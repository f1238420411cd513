/** MCP servers elsewhere, over Streamable HTTP (spec/tool-mcp-remote.md). */
package dev.writ.tools.mcp.remote;
