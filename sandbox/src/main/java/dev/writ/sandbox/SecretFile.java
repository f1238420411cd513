package dev.writ.sandbox;

/**
 * A secret for one command: the file {@code /run/secrets/NAME}, readable by it alone, in memory,
 * for as long as it runs.
 *
 * @param name letters, digits, {@code .}, {@code _} and {@code -}
 */
public record SecretFile(String name, byte[] bytes) {
  @Override
  public String toString() {
    return "SecretFile " + name;
  }
}
