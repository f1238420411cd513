package dev.writ.sandbox.host;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A script for {@code /bin/sh}. Commands go through a script for two reasons. Its bytes are exactly
 * ours, while a {@link ProcessBuilder} encodes arguments by the JVM's locale, which may turn
 * non-ASCII characters into question marks. And a shell can act between fork and exec, which a JVM
 * cannot.
 */
public final class ShellScript {
  private final StringBuilder text = new StringBuilder("set -e\n");

  /** A line of shell, as it is. */
  public ShellScript line(String line) {
    text.append(line).append('\n');
    return this;
  }

  /** Replaces the shell by a program (exec). */
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
