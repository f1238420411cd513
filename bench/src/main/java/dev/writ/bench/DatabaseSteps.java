package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.ledger.Ledger;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Effects of an installation whose rows are in PostgreSQL: against one transaction there, against
 * the same installation on RocksDB, and what they take of the server's processors. The engine is
 * the one that {@code writ serve} takes.
 */
final class DatabaseSteps implements AutoCloseable {
  private static final int WARM_UP_EACH = 32;

  /** Alone an effect is one commit, and everything else in it is ours. */
  private static final BenchTarget ONE_CALLER = new BenchTarget.TimeAtMost(2);

  private static final BenchTarget BESIDE_ROCKSDB = new BenchTarget.RateAtLeast(0.25);

  /** 200 µs. */
  private static final double SERVER_MOST_NS = 200_000;

  private final Stopwatch watch;
  private final Optional<Place> place;

  private record Place(BenchDatabase database, Lab inDatabase, Lab inRocksDb, int effectBytes) {}

  private DatabaseSteps(Stopwatch watch, Optional<Place> place) {
    this.watch = watch;
    this.place = place;
  }

  /**
   * @param address as {@code writ init --database} takes it; without one there are no such steps
   * @param parent of the installations' directories
   */
  static DatabaseSteps where(Optional<URI> address, Stopwatch watch, Path parent) {
    if (address.isEmpty()) {
      return new DatabaseSteps(watch, Optional.empty());
    }
    BenchDatabase database = BenchDatabase.of(address.get());
    try {
      Lab inDatabase =
          new Lab(
              parent.resolve("database"),
              false,
              config -> Ledger.create(config, database.address()));
      database.makeTable();
      Lab inRocksDb = new Lab(parent.resolve("beside-database"));
      Place place = new Place(database, inDatabase, inRocksDb, inRocksDb.bytesOfAnEffect());
      DatabaseSteps steps = new DatabaseSteps(watch, Optional.of(place));
      steps.warmUp(inDatabase);
      steps.warmUp(inRocksDb);
      return steps;
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  private void warmUp(Lab lab) {
    EffectCrowd crowd = new EffectCrowd(watch, lab, EffectSteps.CALLERS, "warm-up");
    int effects = watch.plan().effectsBefore() / 4;
    for (int done = 0; done < effects; done += EffectSteps.CALLERS * WARM_UP_EACH) {
      BenchEngines.with(SignatureEngines.fastest(), () -> crowd.run(WARM_UP_EACH)).cost();
    }
  }

  List<Step> steps() {
    List<Step> steps = new ArrayList<>();
    place.ifPresent(in -> {
      BenchDatabase database = in.database();
      byte[] row = new byte[in.effectBytes()];
      steps.add(
          new Step(
              "database: no-op effect, 1 caller",
              "a transaction of " + row.length + " B there",
              ONE_CALLER,
              effects(in.inDatabase(), 1),
              watch.repeat(() -> database.insert(row))));
      steps.add(
          new Step(
              "database: no-op effect, " + EffectSteps.CALLERS + " callers",
              "the same on RocksDB",
              BESIDE_ROCKSDB,
              effects(in.inDatabase(), EffectSteps.CALLERS),
              effects(in.inRocksDb(), EffectSteps.CALLERS)));
      if (database.isOnThisMachine()) {
        EffectCrowd crowd =
            new EffectCrowd(watch, in.inDatabase(), EffectSteps.CALLERS, "server-processor");
        steps.add(
            new Step(
                "database: server's processor for an effect",
                "200 us",
                new BenchTarget.TimeAtMost(1),
                BenchEngines.with(SignatureEngines.fastest(), () -> database.processorOf(crowd)),
                () -> new Cost(SERVER_MOST_NS, 0)));
      }
    });
    return steps;
  }

  private Step.Slice effects(Lab lab, int callers) {
    return BenchEngines.with(
        SignatureEngines.fastest(), new EffectCrowd(watch, lab, callers, "effects"));
  }

  @Override
  public void close() {
    place.ifPresent(in -> {
      in.inDatabase().close();
      in.inRocksDb().close();
      in.database().close();
    });
  }
}
