package dev.writ.canonicalize;

/**
 * One stable reason for a refusal. Every module has an enum of its own that implements this; {@code
 * spec/errors.md} is the list of all of them and a test compares the two.
 */
public interface ErrorCode {

  /**
   * A line of the catalogue.
   *
   * @param code stable, for example {@code CAN-004}; never reused for something else
   * @param meaning what is wrong, as a phrase in lower case: "an object names a key twice"
   * @param remedy what the caller does about it, as a sentence in the imperative
   */
  record Entry(String code, String meaning, String remedy) {}

  /** Its entry in the catalogue. */
  Entry entry();

  default String code() {
    return entry().code();
  }

  default String meaning() {
    return entry().meaning();
  }

  default String remedy() {
    return entry().remedy();
  }
}
