package dev.writ.verify.simulation;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;

/**
 * Runs threads one at a time, and chooses by a seed who goes on: virtual threads whose scheduler
 * this is. A lock, a condition or a future that one waits for gives the turn away as it does
 * anywhere, without a word in the code under test; {@link #yield} does where nobody waits. Who is
 * dropped never goes on: that is a crash.
 *
 * <p>Whoever waits for a monitor is woken by a thread of the JDK's own, which no seed rules: code
 * under test must not give its turn away inside of {@code synchronized}. One who does is told.
 */
final class Scheduler implements Executor {
  private final SplittableRandom random;
  private final List<Runnable> ready = new ArrayList<>();
  private final Thread.Builder.OfVirtual builder;
  private final Thread carrier = Thread.currentThread();
  private long steps;

  Scheduler(SplittableRandom random) {
    this.random = random;
    this.builder = builder(this);
  }

  /** The JDK keeps the choice of a scheduler to itself, for now (--add-opens in the pom). */
  private static Thread.Builder.OfVirtual builder(Executor scheduler) {
    try {
      Constructor<?> made =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      made.setAccessible(true);
      return (Thread.Builder.OfVirtual) made.newInstance(scheduler);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JDK takes no scheduler of virtual threads", e);
    }
  }

  Thread thread(Runnable work) {
    return builder.unstarted(work);
  }

  @Override
  public void execute(Runnable continuation) {
    Thread by = Thread.currentThread();
    if (!by.isVirtual() && by != carrier) {
      throw new IllegalStateException("woken by " + by + ": somebody waited for a monitor");
    }
    ready.add(continuation);
  }

  /** Lets one go on to its next wait or turn; false where nobody can. */
  boolean step() {
    if (ready.isEmpty()) {
      return false;
    }
    int chosen = random.nextInt(ready.size());
    Runnable next = ready.get(chosen);
    ready.set(chosen, ready.getLast());
    ready.removeLast();
    steps++;
    next.run();
    return true;
  }

  /** Lets another one come in here, now and then. */
  void yield(int oneIn) {
    if (Thread.currentThread().isVirtual() && random.nextInt(oneIn) == 0) {
      Thread.yield();
    }
  }

  long steps() {
    return steps;
  }
}
