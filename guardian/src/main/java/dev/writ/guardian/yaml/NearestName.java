package dev.writ.guardian.yaml;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** The name that somebody probably meant. */
public final class NearestName {
  /** Longer names are compared with nothing: the work grows with the square of their length. */
  private static final int LENGTH_MAX = 64;

  private NearestName() {}

  /** The nearest of the names, if it is near: a third of the letters may be others. */
  public static Optional<String> of(String meant, Collection<String> names) {
    if (meant.length() > LENGTH_MAX) {
      return Optional.empty();
    }
    String plain = plain(meant);
    return names.stream()
        .filter(name -> name.length() <= LENGTH_MAX)
        .filter(name ->
            distance(plain, plain(name)) <= Math.max(plain.length(), plain(name).length()) / 3)
        .min(
            Comparator.<String>comparingInt(name -> distance(plain, plain(name)))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Without what only styles of writing differ in: filePath, file_path, file-path. */
  private static String plain(String name) {
    return name.replace("_", "").replace("-", "").toLowerCase(Locale.ROOT);
  }

  /** How many letters to add, remove, replace, or swap with their neighbour. */
  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(d[i - 1][j - 1] + change, Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1));
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
