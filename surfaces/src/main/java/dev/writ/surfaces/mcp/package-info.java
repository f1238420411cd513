/** The Model Context Protocol (spec/surface-mcp.md). */
package dev.writ.surfaces.mcp;
