package dev.writ.verify.archive;

import java.util.List;
import java.util.Optional;

/** How much the tests that print the figures of spec/retention.md do. */
final class ArchiveFigures {
  static final boolean LONG = "long".equals(System.getProperty("writ.campaign"));

  private ArchiveFigures() {}

  /** So many of {@code writ.campaign.effects}, or else 1,000 and 10,000; few in a short run. */
  static List<Integer> effects(int few) {
    if (!LONG) {
      return List.of(few);
    }
    return Optional.ofNullable(Integer.getInteger("writ.campaign.effects"))
        .map(List::of)
        .orElse(List.of(1000, 10_000));
  }

  /** The bytes of an effect's output. */
  static int outputBytes(int usual) {
    return Integer.getInteger("writ.campaign.output", usual);
  }
}
