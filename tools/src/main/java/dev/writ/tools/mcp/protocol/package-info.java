/** The client's side of the Model Context Protocol, towards a server that may lie. */
package dev.writ.tools.mcp.protocol;
