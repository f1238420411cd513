package dev.writ.sandbox.host;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A script for {@code /bin/sh}. Commands go through one because its bytes are exactly ours: what is
 * handed to a {@link ProcessBuilder} is encoded by the locale that the JVM was started in, which
 * makes question marks of what is not ASCII; and because a shell can do between fork and exec what
 * a JVM cannot.
 */
public final class ShellScript {
  private final StringBuilder text = new StringBuilder("set -e\n");

  /** A line of shell, as it is. */
  public ShellScript line(String line) {
    text.append(line).append('\n');
    return this;
  }

  /** Replaces the shell by a program. */
  public ShellScript exec(List<String> argv) {
    return line("exec " + quoted(argv));
  }

  public static String quoted(List<String> argv) {
    return String.join(" ", argv.stream().map(ShellScript::quoted).toList());
  }

  /** One word, whatever is in it. */
  public static String quoted(String word) {
    if (!word.isEmpty() && word.chars().allMatch(ShellScript::isPlain)) {
      return word;
    }
    return "'" + word.replace("'", "'\\''") + "'";
  }

  private static boolean isPlain(int c) {
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || "_-./:,+=@%".indexOf(c) >= 0;
  }

  public byte[] bytes() {
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }
}
