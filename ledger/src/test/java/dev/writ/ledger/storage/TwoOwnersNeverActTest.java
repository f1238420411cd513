package dev.writ.ledger.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Gateways that take a cell over from each other, under a scheduler that pauses them anywhere, lets
 * their clocks run unequally and delays what they send: the real lease, a database in memory. In
 * each step one gateway does one thing. What must hold: no effect is done twice, none is done by
 * one gateway behind a takeover by another unless that gateway stood still longer than its margin
 * between its last look at the clock and the tool, and nothing that the fence refused is
 * acknowledged.
 */
class TwoOwnersNeverActTest {
  private static final int GATEWAYS = 3;
  private static final int STEPS = 3_000;
  private static final int SEEDS = Integer.getInteger("writ.cells.seeds", 200);
  private static final long LENGTH_MS = 1_000;
  private static final long MARGIN_MS = 250;

  /** What is taken out, to see that it is missed. */
  private enum Without {
    NOTHING,
    /** The owner uses its lease to the end. */
    MARGIN,
    /** A write does not compare the epoch. */
    FENCE,
    /** A takeover does not raise the epoch. */
    EPOCH,
    /** The owner does not look at its clock between a durable dispatch and the tool. */
    SECOND_LOOK,
    /** It counts from the answer to a renewal instead of from before it was sent. */
    EARLY_READING
  }

  /** What went wrong. */
  private record Fault(String what) {}

  /** The database: its clock is the world's. */
  private static final class Database {
    long now;
    long epoch;
    long until;
    int owner = -1;
    final Map<Integer, String> effects = new TreeMap<>();
  }

  private static final class Gateway {
    final int number;
    final double rate;
    final long offset;
    Lease lease;
    long epoch;
    long awake;
    int effect = -1;
    int stage;
    long lookedAt;
    boolean renewing;
    long sentAt;
    long sent;
    long arrives;

    Gateway(int number, Random random) {
      this.number = number;
      this.rate = 0.9 + random.nextDouble() * 0.2; // as far apart as the margin covers
      this.offset = random.nextInt(1_000_000);
    }
  }

  private static final class World {
    final Random random;
    final Without without;
    final Database db = new Database();
    final List<Gateway> gateways = new ArrayList<>();
    final Map<Integer, Integer> done = new TreeMap<>();
    final List<Fault> faults = new ArrayList<>();
    int effects;
    int takeovers;
    int inDoubt;
    int receipts;

    World(long seed, Without without) {
      this.random = new Random(seed);
      this.without = without;
      for (int i = 0; i < GATEWAYS; i++) {
        gateways.add(new Gateway(i, random));
      }
    }

    private long nanos(Gateway gateway) {
      return (long) ((db.now * gateway.rate + gateway.offset) * 1_000_000);
    }

    void run() {
      for (int step = 0; step < STEPS; step++) {
        db.now += random.nextInt(20);
        Gateway gateway = gateways.get(random.nextInt(GATEWAYS));
        if (gateway.awake > db.now) {
          continue;
        }
        if (random.nextInt(60) == 0) { // SIGSTOP
          gateway.awake = db.now + random.nextInt(3 * (int) LENGTH_MS);
          continue;
        }
        act(gateway);
      }
    }

    private void act(Gateway gateway) {
      if (gateway.lease == null) {
        takeOver(gateway);
      } else if (gateway.renewing) {
        renewed(gateway);
      } else if (gateway.effect >= 0) {
        goOn(gateway);
      } else if (gateway.lease.isOver()) {
        gateway.lease = null; // gives it up
      } else if (random.nextInt(3) == 0) {
        gateway.renewing = true;
        gateway.sentAt = nanos(gateway);
        gateway.sent = db.now;
        gateway.arrives = db.now + random.nextInt(100);
      } else {
        begin(gateway);
      }
    }

    private void takeOver(Gateway gateway) {
      if (db.now < db.until) {
        return;
      }
      long sentAt = nanos(gateway);
      db.epoch += without == Without.EPOCH ? 0 : 1;
      db.until = db.now + LENGTH_MS;
      db.owner = gateway.number;
      db.effects.replaceAll((_, state) -> {
        boolean isOpen = state.equals("dispatched");
        inDoubt += isOpen ? 1 : 0;
        return isOpen ? "in doubt" : state;
      });
      takeovers++;
      gateway.epoch = db.epoch;
      long margin = without == Without.MARGIN ? 0 : MARGIN_MS;
      gateway.lease =
          new Lease(
              db.epoch,
              new LeaseTerms(
                  "gw",
                  "gw",
                  Duration.ofMillis(LENGTH_MS),
                  Duration.ofMillis(margin),
                  () -> nanos(gateway),
                  () -> {}),
              sentAt);
    }

    private void renewed(Gateway gateway) {
      if (db.now < gateway.arrives) {
        return;
      }
      gateway.renewing = false;
      boolean isMine =
          without == Without.EPOCH || without == Without.FENCE
              ? db.owner == gateway.number
              : db.epoch == gateway.epoch;
      if (!isMine) {
        gateway.lease.end();
        return;
      }
      // The database got it somewhere between sending and now.
      if (gateway.lease.renewed(
          without == Without.EARLY_READING ? nanos(gateway) : gateway.sentAt)) {
        long got = gateway.sent + random.nextInt((int) (gateway.arrives - gateway.sent) + 1);
        db.until = Math.max(db.until, got + LENGTH_MS);
      }
    }

    private boolean isWritten(Gateway gateway) {
      return without == Without.FENCE || db.epoch == gateway.epoch;
    }

    private void begin(Gateway gateway) {
      try {
        gateway.lease.require();
      } catch (WritException e) {
        return;
      }
      gateway.lookedAt = db.now;
      gateway.effect = effects++;
      gateway.stage = 0;
    }

    private void goOn(Gateway gateway) {
      switch (gateway.stage++) {
        case 0 -> {
          if (!isWritten(gateway)) {
            gateway.effect = -1;
            gateway.lease = null;
            return;
          }
          db.effects.put(gateway.effect, "dispatched");
        }
        case 1 -> {
          if (without != Without.SECOND_LOOK) {
            if (gateway.lease.isOver()) {
              gateway.effect = -1;
              gateway.lease = null;
              return;
            }
            gateway.lookedAt = db.now;
          }
          tool(gateway);
        }
        default -> {
          int effect = gateway.effect;
          gateway.effect = -1;
          if (!isWritten(gateway)) {
            gateway.lease = null; // refused: nothing is acknowledged
            return;
          }
          if (!"dispatched".equals(db.effects.put(effect, "receipt"))) {
            faults.add(new Fault("a receipt behind one in doubt"));
          }
          receipts++;
        }
      }
    }

    private void tool(Gateway gateway) {
      if (done.merge(gateway.effect, 1, Integer::sum) > 1) {
        faults.add(new Fault("done twice"));
      }
      boolean isOvertaken =
          db.owner != gateway.number || "in doubt".equals(db.effects.get(gateway.effect));
      if (isOvertaken && db.now == gateway.lookedAt) {
        faults.add(new Fault("done behind a takeover, right after a look at the clock"));
      }
      if (isOvertaken && without == Without.SECOND_LOOK) {
        faults.add(new Fault("done behind a takeover, without a look at the clock"));
      }
    }
  }

  private static World world(long seed, Without without) {
    World world = new World(seed, without);
    world.run();
    return world;
  }

  @Test
  void nothingGoesWrongInAnySchedule() {
    int takeovers = 0;
    int inDoubt = 0;
    int receipts = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      World world = world(seed, Without.NOTHING);
      assertThat(world.faults).as("seed " + seed).isEmpty();
      takeovers += world.takeovers;
      inDoubt += world.inDoubt;
      receipts += world.receipts;
    }
    assertThat(takeovers).as("takeovers").isGreaterThan(SEEDS);
    assertThat(inDoubt).as("effects in doubt").isPositive();
    assertThat(receipts).as("receipts").isGreaterThan(10 * SEEDS);
  }

  @ParameterizedTest
  @EnumSource(value = Without.class, mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
  void whatIsTakenOutIsMissed(Without without) {
    for (long seed = 0; seed < SEEDS; seed++) {
      if (!world(seed, without).faults.isEmpty()) {
        return;
      }
    }
    throw new AssertionError("no schedule of " + SEEDS + " needs the " + without);
  }

  @Test
  void onceOverALeaseStaysOver() {
    long[] now = {0};
    Lease lease =
        new Lease(
            3,
            new LeaseTerms(
                "a", "a", Duration.ofMillis(10), Duration.ofMillis(2), () -> now[0], () -> {}),
            0);
    now[0] = 7_999_999;
    assertThat(lease.isOver()).isFalse();
    assertThat(lease.renewed(5_000_000)).isTrue();
    now[0] = 13_000_000;
    assertThat(lease.left()).isEqualTo(Duration.ZERO);
    assertThat(lease.renewed(12_000_000)).as("the answer came too late").isFalse();
    assertThat(lease.isOver()).isTrue();
  }
}
