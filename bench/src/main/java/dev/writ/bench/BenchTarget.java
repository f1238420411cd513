package dev.writ.bench;

import java.util.Locale;

/** What a ratio has to be: of rates at least, or of times at most. */
sealed interface BenchTarget {
  /** The ratio that this target is about, from nanoseconds for each operation. */
  double ratio(double measured, double floor);

  boolean isMet(double ratio);

  /** In a phrase, for the table. */
  String text();

  /** The step's rate is at least this part of the floor's. */
  record RateAtLeast(double bound) implements BenchTarget {
    @Override
    public double ratio(double measured, double floor) {
      return floor / measured;
    }

    @Override
    public boolean isMet(double ratio) {
      return ratio >= bound;
    }

    @Override
    public String text() {
      return String.format(Locale.ROOT, "rate ≥ %.2f×", bound);
    }
  }

  /** The step takes at most this many times as long as the floor. */
  record TimeAtMost(double bound) implements BenchTarget {
    @Override
    public double ratio(double measured, double floor) {
      return measured / floor;
    }

    @Override
    public boolean isMet(double ratio) {
      return ratio <= bound;
    }

    @Override
    public String text() {
      return String.format(Locale.ROOT, "time ≤ %.2f×", bound);
    }
  }
}
