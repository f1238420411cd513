package dev.writ.verify.simulation;

import java.util.SplittableRandom;

/** What a schedule is mostly about; most are about everything alike. */
enum Focus {
  EVERYTHING(30, 0, 0, 0),

  /** Large content from several at once, and syncs of it that fail. */
  CONTENT(4, 60, 90, 95),

  /** Resolving what is in doubt, and writes that fail meanwhile. */
  DOUBT(3, 50, 76, 80),

  /** Contents that rules of policy have deleted ({@link Callers}), among everything else. */
  DELETION(10, 0, 0, 0);

  /** How rarely a fault is aimed at an operation that can be aimed at. */
  final int aimsOneIn;

  private final int percent;
  private final int first;
  private final int last;

  Focus(int aimsOneIn, int percent, int first, int last) {
    this.aimsOneIn = aimsOneIn;
    this.percent = percent;
    this.first = first;
    this.last = last;
  }

  static Focus of(long seed) {
    return switch ((int) Math.floorMod(seed, 8L)) {
      case 4 -> DELETION;
      case 5 -> CONTENT;
      case 7 -> DOUBT;
      default -> EVERYTHING;
    };
  }

  /** What a caller does, of a hundred, instead of what it would do. */
  int turn(int dice, SplittableRandom random) {
    return random.nextInt(100) < percent ? random.nextInt(first, last + 1) : dice;
  }
}
