package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.DriverFailed;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.verify.bundle.RecordedRun;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The recorded measurements of the run's workspace: an input, which receipts record, and refusals
 * for effects that were not dispatched. Whether the workspace may be used is computed from the
 * earlier steps.
 */
final class RecordedWorkspaces implements RunWorkspaces {
  private final RecordedRun recording;
  private Supplier<Digest> tree = Digest::sha256;

  /** intent → tree before, of effects that used the workspace; read when it is first asked for. */
  private Optional<TreeMap<Digest, Digest>> before = Optional.empty();

  RecordedWorkspaces(RecordedRun recording) {
    this.recording = recording;
  }

  /**
   * Sets the tree before an effect that was dispatched; one that has no receipt yet found the tree
   * that it pins.
   */
  void dispatched(Digest intent, Optional<Digest> pinned) {
    tree = () -> before(intent).or(() -> pinned).orElseGet(Digest::sha256);
  }

  /**
   * Sets the tree before an effect that was refused: the one that it pins, unless the refusal
   * states another.
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

  /** The tree before an intent's effect, as its receipt states it; absent without a receipt. */
  Optional<Digest> before(Digest intent) {
    if (before.isEmpty()) {
      TreeMap<Digest, Digest> found = new TreeMap<>();
      recording.events((journal, _, event) -> {
        if (journal == RecordedRun.Journal.RUN && event.kind().equals(EventKind.RECEIPT_SIGNED)) {
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
