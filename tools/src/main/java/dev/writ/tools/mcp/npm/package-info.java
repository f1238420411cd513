/** Servers from npm: resolved and installed once, so that what runs is what was approved. */
package dev.writ.tools.mcp.npm;
