package dev.writ.bench;

import java.util.ArrayList;
import java.util.List;

/** Several callers, each in a run of its own, submit as many effects as fit into a slice. */
final class EffectCrowd implements Step.Slice {
  private static final int EACH_MAX = 5_000;

  private final Stopwatch watch;
  private final Lab lab;
  private final int callers;
  private final String name;
  private Cost last = new Cost(1_000_000, 0);

  /**
   * @param name of the runs, with a number behind it
   */
  EffectCrowd(Stopwatch watch, Lab lab, int callers, String name) {
    this.watch = watch;
    this.lab = lab;
    this.callers = callers;
    this.name = name.replace(' ', '-') + "-" + callers;
  }

  /**
   * @param cost of each effect
   */
  record Slice(Cost cost, int effects) {}

  @Override
  public Cost cost() {
    return slice().cost();
  }

  Slice slice() {
    int each = watch.each(last, callers, EACH_MAX);
    return new Slice(run(each), callers * each);
  }

  /** So many effects of each caller. */
  Cost run(int each) {
    List<List<byte[]>> requests = new ArrayList<>();
    for (int i = 0; i < callers; i++) {
      requests.add(lab.requests(name + "-" + i, each));
    }
    last = Stopwatch.concurrently(callers, each, n -> requests.get(n).forEach(lab::submit));
    return last;
  }
}
