/** An MCP server over standard input and output. */
package dev.writ.cli.mcp;
