package dev.writ.cli.campaign;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;

/** What a campaign did, for whoever reads its result. */
final class Tally {
  private final Map<Strike, Integer> strikes = new TreeMap<>();
  private final Map<Work, Integer> work = new TreeMap<>();
  private int rounds;
  private int struck;
  private long done;
  private long asked;
  private long acknowledged;
  private long outside;
  private long resolved;
  private long waiting;
  private int bundles;

  void round(Strike strike, Work focus) {
    rounds++;
    strikes.merge(strike, 1, Integer::sum);
    work.merge(focus, 1, Integer::sum);
  }

  void struck(Faults faults) {
    try {
      struck += faults.struck();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void work(long count) {
    done += count;
  }

  void asked() {
    asked++;
  }

  void acknowledged(long receipts, long effects) {
    acknowledged += receipts;
    outside += effects;
  }

  void resolved(long count) {
    resolved += count;
  }

  void waiting() {
    waiting++;
  }

  void bundle() {
    bundles++;
  }

  int rounds() {
    return rounds;
  }

  @Override
  public String toString() {
    return rounds
        + " rounds "
        + strikes
        + " during "
        + work
        + "; "
        + struck
        + " calls struck; "
        + done
        + " pieces of work, "
        + acknowledged
        + " receipts acknowledged, "
        + asked
        + " asked for again, "
        + outside
        + " effects outside, "
        + resolved
        + " in doubt and resolved, "
        + waiting
        + " that waited for that, "
        + bundles
        + " bundles verified twice and replayed";
  }
}
