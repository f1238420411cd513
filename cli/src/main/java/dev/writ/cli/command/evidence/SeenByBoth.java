package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.cli.base.Homes;
import dev.writ.embed.home.ApartHomes;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.GuardianCard;
import dev.writ.embed.home.Home;
import dev.writ.executor.Kernel;
import dev.writ.gateway.apart.CrossWitness;
import dev.writ.gateway.apart.ExecutorClient;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.ledger.witness.Witness;
import dev.writ.ledger.witness.WitnessStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * The witness that a guardian or an executor is of the other's log; and has each cosign the other's
 * checkpoints at the guardian's start, and once a minute where its log has grown.
 */
public final class SeenByBoth implements AutoCloseable {
  private static final Duration EVERY = Duration.ofMinutes(1);

  private final CrossWitness witness;
  private final Kernel kernel;
  private final ExecutorClient executor;
  private final BiConsumer<String, WritException> refused;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;
  private long size = -1;

  private SeenByBoth(
      CrossWitness witness,
      Kernel kernel,
      ExecutorClient executor,
      BiConsumer<String, WritException> refused) {
    this.witness = witness;
    this.kernel = kernel;
    this.executor = executor;
    this.refused = refused;
    exchange();
    this.thread = Thread.ofPlatform().daemon().name("writ-cosigning").start(this::work);
  }

  /**
   * Begins.
   *
   * @param refused is told of what did not work, with a word for it
   */
  public static SeenByBoth start(
      Home home,
      Kernel kernel,
      ExecutorClient executor,
      BiConsumer<String, WritException> refused) {
    return new SeenByBoth(ofGuardian(home, kernel), kernel, executor, refused);
  }

  private void work() {
    try {
      while (!closing.await(EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
        exchange();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void exchange() {
    long now = kernel.ledger().treeSize();
    if (now == size) {
      return;
    }
    try {
      witness.exchange(executor);
      size = now;
    } catch (WritException e) {
      refused.accept("not-cosigned", e);
    }
  }

  /** Returns when nothing of it uses the log any more. */
  @Override
  public void close() {
    closing.countDown();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    witness.close();
  }

  private static CrossWitness ofGuardian(Home home, Kernel kernel) {
    ExecutorCard executor = ExecutorCard.read(ExecutorCard.of(home));
    // It is made with the executor, and nobody exchanges it.
    List<NoteKey> keys = List.of(executor.log());
    return open(home, kernel, executor.log(), () -> keys, executor.witness());
  }

  /**
   * That of an executor, whose copy of the system run says by which keys the guardian's log signs.
   */
  public static CrossWitness ofExecutor(Home home, Kernel kernel) {
    GuardianCard guardian = GuardianCard.read(GuardianCard.of(home));
    NoteKey log = guardian.log();
    return open(home, kernel, log, () -> inForce(kernel, log.name()), guardian.witness());
  }

  private static List<NoteKey> inForce(Kernel kernel, String origin) {
    return kernel.system().trust().keys().values().stream()
        .filter(key -> key.role() == KeyRole.LOG && key.revokedAt().isEmpty())
        .map(key -> new NoteKey(origin, key.key()))
        .toList();
  }

  private static CrossWitness open(
      Home home, Kernel kernel, NoteKey log, Supplier<List<NoteKey>> keys, WitnessKey other) {
    Witness witness =
        Witness.of(
            WitnessStore.open(ApartHomes.witnessed(home), Disk.REAL),
            home.origin() + "/witness",
            ApartHomes.witnessKey(home),
            List.of(log));
    return new CrossWitness(
        witness,
        log,
        keys,
        other,
        kernel.ledger(),
        kernel::checkpoint,
        ApartHomes.cosigned(home),
        Homes.clock());
  }
}
