package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.DriverFailed;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.verify.bundle.Recording;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The run's workspace as it was measured: an input, which the receipts record. Of an effect that
 * was not dispatched, the refusal says what was found. Whether it may be used is not taken from
 * here: that follows from the steps before.
 */
final class RecordedWorkspaces implements RunWorkspaces {
  private final Recording recording;
  private Supplier<Digest> tree = Digest::sha256;

  /** intent → tree before, of effects that used the workspace; read when it is first asked for. */
  private Optional<TreeMap<Digest, Digest>> before = Optional.empty();

  RecordedWorkspaces(Recording recording) {
    this.recording = recording;
  }

  /** Before an effect that was dispatched; one that has no receipt yet found what it pins. */
  void dispatched(Digest intent, Optional<Digest> pinned) {
    tree = () -> before(intent).or(() -> pinned).orElseGet(Digest::sha256);
  }

  /**
   * Before an effect that was refused: another tree than it pins only where the refusal says so.
   */
  void refused(Refusal refusal, Optional<Digest> pinned) {
    Optional<Digest> found = RefusalObservations.of(refusal).flatMap(Observed::workspace);
    tree = () -> found.or(() -> pinned).orElseGet(Digest::sha256);
  }

  /** When an effect has ended. */
  void finished(Receipt receipt) {
    tree =
        () ->
            receipt
                .workspaceAfter()
                .orElseThrow(() -> new DriverFailed(receipt.message())); // not measured
  }

  @Override
  public Digest treeDigest(String tenant, String run) {
    return tree.get();
  }

  /** What the receipt of an intent says that its tree was; absent where there is none. */
  Optional<Digest> before(Digest intent) {
    if (before.isEmpty()) {
      TreeMap<Digest, Digest> found = new TreeMap<>();
      recording.events((journal, _, event) -> {
        if (journal == Recording.Journal.RUN && event.kind().equals(EventKind.RECEIPT_SIGNED)) {
          recording
              .document(event.body())
              .map(envelope -> Receipt.read(envelope.document()))
              .ifPresent(receipt ->
                  receipt
                      .workspaceBefore()
                      .ifPresent(digest -> found.put(receipt.intent(), digest)));
        }
      });
      before = Optional.of(found);
    }
    return Optional.ofNullable(before.get().get(intent));
  }

  @Override
  public void wipe(String tenant, String run, String reason, Instant at) {
    throw new IllegalStateException("a replay has no workspace to wipe");
  }
}
