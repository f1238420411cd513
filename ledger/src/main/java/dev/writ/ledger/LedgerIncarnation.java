package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.rocks.Databases;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * Begins the next incarnation of a ledger (protocol rule 27): earlier intents are void from then
 * on.
 */
final class LedgerIncarnation {
  private LedgerIncarnation() {}

  /**
   * Begins it, and closes the ledger again.
   *
   * @param requirement of the ledger as it is found, with each anchor that it has
   * @param incarnating makes the batch that is committed with it
   * @return its number
   */
  static long begin(
      LedgerConfig config,
      BiConsumer<Ledger, Optional<Anchor>> requirement,
      Ledger.Incarnating incarnating) {
    Commit commit;
    long next;
    try (Ledger ledger =
        LedgerOpening.of(config, Databases.of(config.files(), config.dir())).unstarted()) {
      Optional<Anchor> anchor = ledger.anchors().own();
      Optional<Anchor> shared = ledger.anchors().readShared();
      next = 1 + ledger.incarnation();
      for (Optional<Anchor> each : List.of(anchor, shared)) {
        each.ifPresent(a -> a.requireOrigin(ledger.origin()));
        next = Math.max(next, 1 + each.map(Anchor::incarnation).orElse(0L));
      }
      requirement.accept(ledger, anchor);
      if (ledger.anchors().isShared()) {
        requirement.accept(ledger, shared);
      }
      Batch batch = incarnating.batch(ledger, next).incarnation(next);
      // The anchor is written first: after a crash in between the ledger is refused, and never
      // writes under an incarnation that the anchor does not have.
      Anchor begun =
          new Anchor(
              ledger.origin(), next, ledger.treeSize(), ledger.root(), config.clock().instant());
      ledger.anchors().moveShared(begun, other -> other.verify(ledger));
      ledger.anchors().writeOwn(begun);
      ledger.start();
      commit = ledger.append(batch);
    }
    commit.await();
    return next;
  }

  /**
   * Requires that the ledger continues its anchor, unless an earlier restart of time was
   * interrupted after it wrote the anchor.
   */
  static void requireNothingLost(Ledger ledger, Optional<Anchor> anchor) {
    Anchor found =
        anchor.orElseThrow(() -> new WritException(LedgerError.ANCHOR_MISSING, ledger.origin()));
    boolean cutOff =
        found.incarnation() == ledger.incarnation() + 1
            && found.treeSize() == ledger.treeSize()
            && found.root().equals(ledger.root());
    if (!cutOff) {
      found.verify(ledger, ledger.hasOtherHomes());
    }
  }
}
