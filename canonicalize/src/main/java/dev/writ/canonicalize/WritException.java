package dev.writ.canonicalize;

/**
 * The one exception of the project: a refusal with a stable {@link ErrorCode}, what was found, and
 * what to do. What was found never holds payloads or secrets.
 */
public class WritException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient ErrorCode code;
  private final String found;

  /**
   * @param found what was found, both values where two were compared; may be empty
   */
  public WritException(ErrorCode code, String found) {
    this(code, found, null);
  }

  public WritException(ErrorCode code, String found, Throwable cause) {
    super(
        code.code()
            + " "
            + code.meaning()
            + (found.isEmpty() ? "" : ": " + found)
            + ". "
            + code.remedy(),
        cause);
    this.code = code;
    this.found = found;
  }

  public ErrorCode code() {
    return code;
  }

  /** What was found, without the code, its meaning and its remedy. */
  public String found() {
    return found;
  }
}
