/** MCP servers of others, governed as tool packages. */
package dev.writ.tools.mcp;
