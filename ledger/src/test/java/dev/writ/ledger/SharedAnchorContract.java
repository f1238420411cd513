package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.MemoryStorage;
import dev.writ.ledger.storage.SharedAnchor;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** What ledgers do with the anchor of a store that has one. */
abstract class SharedAnchorContract extends LargeContentsContract {
  @Test
  void aTailThatAFailoverLostIsToldInAHomeThatNeverSawIt() throws Exception {
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
  void ofTwoThatBelieveToBeTheOwnerTheFormerOneStops() throws Exception {
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

  /** It would send its operator after another writer, and to give up what the log has. */
  @Test
  void aLogThatCannotBeReadJustNowIsNotTakenForAnotherWriters() throws Exception {
    Ledger one = create("one");
    one.append(Fixture.opening("run-1")).await();
    awaitAnchor(1);
    try (Ledger two = takeOver("two")) {
      two.append(Fixture.opening("run-2")).await();
      awaitAnchor(2);
      Anchor old = Anchor.read(config("one").anchor()).orElseThrow();
      Refused.with(
          LedgerError.STORAGE,
          () ->
              one.anchors()
                  .moveShared(
                      old,
                      _ -> {
                        throw new WritException(LedgerError.STORAGE, "reading");
                      }));
    }
    closeFenced(one);
  }

  @Test
  void theLastMoveOfAFormerOwnerDoesNotStopItsSuccessor() throws Exception {
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
  private void awaitAnchor(long size) throws InterruptedException {
    try (LargeContents store = ContentPlaces.at(address)) {
      SharedAnchor anchor = store.anchor().orElseThrow();
      while (Anchor.parse(anchor.read().orElseThrow(), "").treeSize() < size) {
        Thread.sleep(1);
      }
    }
  }

  @Test
  void aLostAnchorIsNotMadeAnewInSilence() throws Exception {
    create("one").close();
    removeAnchor(address);
    Refused.with(LedgerError.ANCHOR_MISSING, () -> Ledger.open(config("one"), database));
    assertThat(fsck("one").problems()).singleElement().asString().contains("shared anchor");
  }

  /** Removes the anchor behind the store's back. */
  abstract void removeAnchor(URI store);
}
