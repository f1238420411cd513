package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.MemoryStorage;
import dev.writ.ledger.storage.SharedAnchor;
import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** What ledgers do with the anchor of a store that has one. */
abstract class SharedAnchorContract extends LargeContentsContract {
  @Test
  void aTailThatAFailoverLostIsToldInAHomeThatNeverSawIt() throws IOException {
    MemoryStorage before;
    try (Ledger one = create("one")) {
      one.append(Fixture.opening("run-1")).await();
      before = database.backUp();
    }
    takeOver("two").close();
    try (Ledger one = Ledger.open(config("one"), database)) {
      one.append(Fixture.opening("run-2")).await();
    }
    database.restore(before);
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> takeOver("two"));
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> takeOver("three"));
  }

  @Test
  void ofTwoThatBelieveToBeTheOwnerTheFormerOneStops() throws IOException {
    Ledger one = create("one");
    one.append(Fixture.opening("run-1")).await();
    awaitAnchor(1);
    try (Ledger two = takeOver("two")) {
      two.append(Fixture.opening("run-2")).await();
      awaitAnchor(2);
      Anchor old = Anchor.read(config("one").anchor()).orElseThrow();
      Refused.with(LedgerError.ANCHOR_MOVED, () -> moveShared(one, old));
      two.append(Fixture.opening("run-3")).await();
      awaitAnchor(3);
    }
    closeFenced(one);
  }

  @Test
  void theLastMoveOfAFormerOwnerDoesNotStopItsSuccessor() throws IOException {
    Ledger one = create("one");
    one.append(Fixture.opening("run-1")).await();
    awaitAnchor(1);
    Anchor state = Anchor.read(config("one").anchor()).orElseThrow();
    try (Ledger two = takeOver("two")) {
      // It read the anchor before this; the same state at another time is another object.
      moveShared(
          one,
          new Anchor(
              state.origin(),
              state.incarnation(),
              state.treeSize(),
              state.root(),
              Fixture.AT.plusSeconds(1)));
      two.append(Fixture.opening("run-2")).await();
      awaitAnchor(2);
    }
    closeFenced(one);
  }

  private static void moveShared(Ledger former, Anchor anchor) {
    former.anchors().moveShared(anchor, other -> other.verify(former, true));
  }

  /** The keeper writes it a moment after each commit. */
  private void awaitAnchor(long size) {
    try (LargeContents store = ContentPlaces.at(address)) {
      SharedAnchor anchor = store.anchor().orElseThrow();
      while (Anchor.parse(anchor.read().orElseThrow(), "").treeSize() < size) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aLostAnchorIsNotMadeAnewInSilence() throws IOException {
    create("one").close();
    removeAnchor(address);
    Refused.with(LedgerError.ANCHOR_MISSING, () -> Ledger.open(config("one"), database));
    assertThat(fsck("one").problems()).singleElement().asString().contains("shared anchor");
  }

  /** Removes the anchor behind the store's back. */
  abstract void removeAnchor(URI store);
}
