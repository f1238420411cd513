package dev.writ.tools.mcp.protocol;

/**
 * How long an answer may take.
 *
 * @param wallMs elapsed time
 * @param cpuMs processor time of a local server meanwhile
 */
public record Patience(long wallMs, long cpuMs) {}
