package dev.writ.cli.base;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** The word that somebody may have meant who typed another one. */
public final class NearWord {
  private NearWord() {}

  /** The nearest of these words; none where a third of the letters or more would have to change. */
  public static Optional<String> of(String typed, Collection<String> words) {
    return words.stream()
        .filter(word -> distance(typed, word) * 3 <= Math.max(typed.length(), word.length()))
        .min(
            Comparator.comparingInt((String word) -> distance(typed, word))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Letters to insert, delete, replace, or exchange with the next one. */
  static int distance(String a, String b) {
    int[][] steps = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        steps[i][j] = i == 0 || j == 0 ? i + j : step(steps, a, b, i, j);
      }
    }
    return steps[a.length()][b.length()];
  }

  private static int step(int[][] steps, String a, String b, int i, int j) {
    boolean same = a.charAt(i - 1) == b.charAt(j - 1);
    int least =
        Math.min(
            Math.min(steps[i - 1][j], steps[i][j - 1]) + 1, steps[i - 1][j - 1] + (same ? 0 : 1));
    boolean exchanged =
        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    return exchanged ? Math.min(least, steps[i - 2][j - 2] + 1) : least;
  }
}
