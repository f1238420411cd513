package dev.writ.executor.driver;

/**
 * A failure of a driver under a given name. Any other throwable is recorded under the name of its
 * class; a replay repeats that failure by throwing this.
 */
public final class DriverFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String name;

  public DriverFailed(String name) {
    super(name);
    this.name = name;
  }

  /**
   * @param cause for whoever reads a stack trace: receipts state only the name
   */
  public DriverFailed(String name, Throwable cause) {
    super(name + ": " + cause.getMessage(), cause);
    this.name = name;
  }

  /** The name of a failure, as receipts state it. */
  public static String nameOf(Throwable failure) {
    return failure instanceof DriverFailed named ? named.name : failure.getClass().getSimpleName();
  }
}
