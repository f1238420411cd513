package dev.writ.canonicalize.json;

import java.util.Random;

/** How long the seeded campaigns are, and their seed. */
final class Campaign {
  private static final boolean LONG = "long".equals(System.getProperty("writ.campaign"));

  private Campaign() {}

  /** So many rounds: fifty times as many with {@code -Dwrit.campaign=long}. */
  static int rounds(int brief) {
    return LONG ? 50 * brief : brief;
  }

  /** The random numbers of a campaign; {@code -Dwrit.seed=N} repeats one. */
  static Random random(String name) {
    long seed = Long.getLong("writ.seed", 8785);
    System.out.println("campaign " + name + ": -Dwrit.seed=" + seed);
    return new Random(seed + name.hashCode());
  }
}
