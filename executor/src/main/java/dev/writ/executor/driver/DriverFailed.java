package dev.writ.executor.driver;

/**
 * A driver failed and says by which name it is known; of any other throwable that is its class's. A
 * replay repeats a recorded failure by this.
 */
public final class DriverFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String name;

  public DriverFailed(String name) {
    super(name);
    this.name = name;
  }

  /** What a receipt calls this failure. */
  public static String nameOf(Throwable failure) {
    return failure instanceof DriverFailed named ? named.name : failure.getClass().getSimpleName();
  }
}
