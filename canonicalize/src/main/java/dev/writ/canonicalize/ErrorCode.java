package dev.writ.canonicalize;

/**
 * One stable reason for a refusal. Every module has an enum of its own that implements this; {@code
 * spec/errors.md} is the list of all of them and a test holds the two against each other.
 */
public interface ErrorCode {

  /** The stable code, for example {@code CAN-004}; a code is never reused for something else. */
  String code();

  /** What is wrong, as a phrase in lower case: "an object names a key twice". */
  String meaning();

  /** What the caller does about it, as a sentence in the imperative. */
  String remedy();
}
