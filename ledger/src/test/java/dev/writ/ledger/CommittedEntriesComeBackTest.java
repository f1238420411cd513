package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.digest;
import static dev.writ.ledger.Fixture.document;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.merkle.Merkle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommittedEntriesComeBackTest {
  @TempDir Path home;

  @Test
  void an_empty_ledger_has_nothing() {
    try (Ledger ledger = Ledger.create(config(home))) {
      assertThat(ledger.treeSize()).isZero();
      assertThat(ledger.root()).isEqualTo(Merkle.EMPTY_ROOT);
      assertThat(ledger.incarnation()).isEqualTo(1);
      assertThat(ledger.origin()).isEqualTo(Fixture.ORIGIN);
      assertThat(ledger.head(run("a"))).isEmpty();
      assertThat(ledger.pendingHead(run("a"))).isEmpty();
      assertThat(ledger.event(run("a"), 0)).isEmpty();
      assertThat(ledger.indexOf(run("a"), 0)).isEmpty();
      assertThat(ledger.document(digest("x"))).isEmpty();
      assertThat(ledger.hasBlob(digest("x"))).isFalse();
      assertThat(ledger.latestCheckpoint()).isEmpty();
      assertThat(ledger.get("t", "k")).isEmpty();
    }
  }

  @Test
  void what_was_awaited_is_there_also_after_opening_again() {
    byte[] blob = Fixture.bytes("output");
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a").blob(blob).put("t", "k", new byte[] {1})).await();
      ledger.append(opening("b")).await();
      ledger.append(step(ledger, run("a"), "more")).await();
      check(ledger, blob);
    }
    try (Ledger ledger = Ledger.open(config(home))) {
      check(ledger, blob);
    }
    try (LedgerView view = Ledger.openReadOnly(config(home).dir())) {
      check(view, blob);
    }
  }

  private static void check(LedgerView view, byte[] blob) {
    assertThat(view.treeSize()).isEqualTo(3);
    assertThat(view.highWater()).isEqualTo(Fixture.AT);
    Event second = view.head(run("a")).orElseThrow();
    assertThat(second.seq()).isEqualTo(1);
    assertThat(second.prev()).contains(Fixture.first("a").id());
    assertThat(view.event(run("a"), 0)).contains(Fixture.first("a"));
    assertThat(view.event(run("a"), 1)).contains(second);
    assertThat(view.event(run("a"), 2)).isEmpty();
    assertThat(view.indexOf(run("a"), 1)).isEqualTo(OptionalLong.of(2));
    List<Event> all = new ArrayList<>();
    view.eventsByIndex(0, 3, (index, event) -> all.add(Math.toIntExact(index), event));
    assertThat(all).containsExactly(Fixture.first("a"), Fixture.first("b"), second);
    List<Event> ofRun = new ArrayList<>();
    view.events(run("a"), 0, ofRun::add);
    assertThat(ofRun).containsExactly(Fixture.first("a"), second);
    List<RunId> runs = new ArrayList<>();
    view.runs(runs::add);
    assertThat(runs).containsExactly(run("a"), run("b"));
    List<Digest> leaves = all.stream().map(e -> Merkle.leafHash(e.toBytes())).toList();
    assertThat(view.root()).isEqualTo(Merkle.root(leaves));
    for (int i = 0; i < 3; i++) {
      Merkle.verifyInclusion(leaves.get(i), i, 3, view.inclusionProof(i, 3), view.root());
      Merkle.verifyConsistency(i, view.root(i), 3, view.root(), view.consistencyProof(i, 3));
    }
    assertThat(view.document(document("more").id()).orElseThrow().toBytes())
        .isEqualTo(document("more").toBytes());
    assertThat(view.blob(Digest.sha256(blob), 100)).isEqualTo(blob);
    assertThat(view.get("t", "k")).hasValue(new byte[] {1});
  }
}
