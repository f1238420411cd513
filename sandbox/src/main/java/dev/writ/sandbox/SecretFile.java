package dev.writ.sandbox;

/**
 * A secret for one command: the file {@code /run/secrets/NAME}, readable by it alone, in memory,
 * for as long as it runs.
 *
 * @param name letters, digits, {@code .}, {@code _} and {@code -}
 */
public record SecretFile(String name, byte[] bytes) {
  /** The directory of all of them. */
  public static final String DIRECTORY = "/run/secrets";

  @Override
  public String toString() {
    return "SecretFile " + name;
  }
}
