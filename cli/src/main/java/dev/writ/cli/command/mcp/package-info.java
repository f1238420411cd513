/** MCP servers of others behind policy, and Writ as an agent's MCP server. */
package dev.writ.cli.command.mcp;
