package dev.writ.conform.run;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.adapter.AdapterAnswer;

/** The implementation under test. */
public interface Implementation extends AutoCloseable {

  /** How it is named in reports. */
  String name();

  /**
   * Its answer to one operation.
   *
   * @throws Broken without an answer, or with a malformed one
   */
  AdapterAnswer ask(String op, JsonValue.Obj input);

  @Override
  default void close() {}

  /** It crashed, hung, or answered with something else than an answer: that vector fails. */
  final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public Broken(String what) {
      super(what);
    }
  }
}
