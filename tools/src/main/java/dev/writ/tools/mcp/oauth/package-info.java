/** OAuth 2.1 towards MCP servers elsewhere, as MCP prescribes it (spec/tool-mcp-remote.md). */
package dev.writ.tools.mcp.oauth;
