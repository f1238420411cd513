package dev.writ.sandbox.elsewhere;

/** The connection to a process on another host was lost, or could not be made. */
public final class LostConnection extends Exception {
  private static final long serialVersionUID = 1L;

  public LostConnection(String message, Throwable cause) {
    super(message, cause);
  }
}
