package dev.writ.bench;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.SystemState;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.Circumstances;
import dev.writ.guardian.document.Request;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The heap that accounts keep for a request that is over, while its nonce is taken and its budget's
 * window runs. Its unit is bytes and not time; the row shows them in the columns of times.
 */
final class AccountSteps {
  private static final int REQUESTS = 100_000;
  private static final int BYTES_MAX = 100;

  private final Lab lab;
  private Optional<Cost> found = Optional.empty();

  AccountSteps(Lab lab) {
    this.lab = lab;
  }

  List<Step> steps() {
    return List.of(
        new Step(
            "heap for a request in a window, bytes",
            BYTES_MAX + " bytes, of " + REQUESTS + " requests",
            new BenchTarget.TimeAtMost(1),
            this::heap,
            () -> Cost.ofBytes(BYTES_MAX)));
  }

  /** Measured once: it is the same in each round. */
  private Cost heap() {
    if (found.isEmpty()) {
      long before = used();
      Accounts accounts = judged();
      found = Optional.of(Cost.ofBytes((double) (used() - before) / REQUESTS));
      Reference.reachabilityFence(accounts);
    }
    return found.get();
  }

  /** Collects until nothing more goes: what other steps left is not all found at once. */
  private static long used() {
    long used = Long.MAX_VALUE;
    long before;
    do {
      before = used;
      Runtime.getRuntime().gc();
      used = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    } while (used < before);
    return used;
  }

  /** Accounts in which that many requests were judged, settled and committed within a minute. */
  private Accounts judged() {
    SystemState system = lab.kernel().system();
    Instant start = lab.ledger().highWater();
    Accounts accounts = Accounts.restore(new NoRows(), 0, system.policyInForce(), start);
    Envelope envelope = lab.request("accounts");
    Request request = Request.read(envelope.document());
    TrustedKey holder = system.trust().key(envelope.signatures().getFirst().kid()).orElseThrow();
    Circumstances circumstances = lab.circumstances();
    for (int i = 0; i < REQUESTS; i++) {
      Instant now = start.plusMillis(i / 2);
      Digest id = Digest.sha256(ByteBuffer.allocate(Integer.BYTES).putInt(i).array());
      Request one =
          new Request(
              request.scope(),
              request.effect(),
              request.consumes(),
              request.idempotencyKey(),
              "nonce-" + i,
              now,
              request.retention(),
              request.context(),
              request.origin(),
              request.evidence(),
              request.delegations());
      Admitted admitted =
          new Admitted(envelope, one, id, holder, List.of(one.scope().subject()), now);
      accounts.judge(admitted, circumstances, system.policyInForce(), system.trust(), now);
      accounts.settle(id, 1);
      accounts.durable(id);
      if (accounts.unsummarized() == KernelConfig.SUMMARIZED_EVERY) {
        accounts.summarize(() -> 0, 0); // what a kernel stores
      }
    }
    return accounts;
  }

  /** A table that is never asked for what is in it: no request comes twice. */
  private static final class NoRows implements Accounts.Stored {
    @Override
    public Optional<byte[]> get(String key) {
      return Optional.empty();
    }

    @Override
    public void scan(Consumer<Accounts.Row> visitor) {}
  }
}
