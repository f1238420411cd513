/** Addresses, and what a server says of who may come to them. */
package dev.writ.tools.mcp.web;
