package dev.writ.guardian.yaml;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;

/** A fault in a file for people, with its place, so that an editor can mark it. */
public final class FileFault extends WritException {
  private static final long serialVersionUID = 1L;

  private final transient Located.Place at;
  private final String field;
  private final String said;

  /**
   * @param field a JSON Pointer; empty where it is about no field
   * @param said may be empty
   */
  FileFault(ErrorCode code, String file, Located.Place at, String field, String said) {
    super(
        code,
        file
            + (at.line() == 0 ? "" : " line " + at.line() + ", column " + at.column())
            + (field.isEmpty() ? "" : ", field " + field)
            + (said.isEmpty() ? "" : ": " + said));
    this.at = at;
    this.field = field;
    this.said = said;
  }

  public Located.Place at() {
    return at;
  }

  public String field() {
    return field;
  }

  /** What was found, without the place. */
  public String said() {
    return said;
  }
}
