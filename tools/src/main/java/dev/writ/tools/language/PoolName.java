package dev.writ.tools.language;

import dev.writ.tools.author.Language;
import java.util.Comparator;
import java.util.List;

/**
 * The workers of one language and resource class, which share a bound (seed 004).
 *
 * @param resourceClass small, medium or large
 */
public record PoolName(String language, String resourceClass) implements Comparable<PoolName> {
  private static final Comparator<PoolName> ORDER =
      Comparator.comparing(PoolName::language).thenComparing(PoolName::resourceClass);

  /** The languages whose tools have workers: all but WebAssembly and descriptions of requests. */
  public static List<String> languages() {
    return Language.ALL.stream()
        .filter(language -> !language.equals(Language.WASM) && !language.equals(Language.HTTP))
        .map(Language::text)
        .toList();
  }

  @Override
  public int compareTo(PoolName other) {
    return ORDER.compare(this, other);
  }
}
