package dev.writ.tools.mcp.protocol;

/** A call was cancelled, and its server did not end it in time. */
public final class StillRunning extends InterruptedException {
  private static final long serialVersionUID = 1L;

  public StillRunning(long ms) {
    super("no answer within " + ms + " ms");
  }
}
