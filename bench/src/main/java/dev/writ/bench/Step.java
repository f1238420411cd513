package dev.writ.bench;

/**
 * One row of the table: something of ours, and what it cannot be faster than, timed side by side.
 *
 * @param floor what it is compared with
 */
record Step(String name, String floor, BenchTarget target, Slice measured, Slice base) {

  /** Works for about a slice of time. */
  @FunctionalInterface
  interface Slice {
    /** What one operation took on average. */
    Cost cost();
  }
}
