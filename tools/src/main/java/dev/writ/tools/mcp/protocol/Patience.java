package dev.writ.tools.mcp.protocol;

/**
 * How long an answer may take.
 *
 * @param wallMs elapsed time
 * @param cpuMs processor time of a local server meanwhile
 * @param ends whether a local server that is late is ended; otherwise only the request is given up
 */
public record Patience(long wallMs, long cpuMs, boolean ends) {
  public Patience(long wallMs, long cpuMs) {
    this(wallMs, cpuMs, true);
  }

  /** The same for a question that a server need not understand. */
  public Patience probing(long mostWallMs) {
    return new Patience(Math.min(wallMs, mostWallMs), cpuMs, false);
  }
}
