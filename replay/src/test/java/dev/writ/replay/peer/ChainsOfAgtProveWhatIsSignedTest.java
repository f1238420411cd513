package dev.writ.replay.peer;

import static dev.writ.replay.peer.PeerFiles.AGT_KEY;
import static dev.writ.replay.peer.PeerFiles.agt;
import static dev.writ.replay.peer.PeerFiles.changed;
import static dev.writ.replay.peer.PeerFiles.pinned;
import static dev.writ.replay.peer.PeerFiles.verify;
import static dev.writ.replay.peer.PeerFiles.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.JsonValue.Obj;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The five chains that the toolkit's own command passes are refused, or do not end as verified. */
class ChainsOfAgtProveWhatIsSignedTest {
  private static void refused(List<Obj> chain, PeerVerification.Options options, String code) {
    PeerVerification result = verify(chain, options);
    assertThat(result.holds()).isFalse();
    assertThat(result.failure().orElseThrow()).hasMessageStartingWith(code);
    assertThat(result.notVerified()).containsExactly("everything behind the first failure");
  }

  private static String lastDigest() {
    return ((JsonValue.Str) agt().getLast().get("payload_hash")).value();
  }

  @Test
  void aChainThatTheToolkitSignedHolds() {
    PeerVerification result = verify(agt(), pinned(AGT_KEY, lastDigest()));
    assertThat(result.failure()).isEmpty();
    assertThat(result.format()).contains("agt-mcp");
    assertThat(result.pinned()).isTrue();
    assertThat(result.whole()).isTrue();
    assertThat(result.receipts()).isEqualTo(4);
    assertThat(result.verified().getFirst()).contains("a pinned key, ea4a6c63e29c520a: ");
    assertThat(result.notVerified())
        .anyMatch(line -> line.startsWith("what a call did"))
        .noneMatch(line -> line.startsWith("the end"));
  }

  @Test
  void anEmptyChainProvesNothing() {
    refused(List.of(), pinned(AGT_KEY, 0), "PRC-002");
  }

  @Test
  void aChainWithoutItsTailIsNeverWhole() {
    List<Obj> cut = agt().subList(0, 3);
    refused(cut, pinned(AGT_KEY, 4), "PRC-006");
    refused(cut, pinned(AGT_KEY, lastDigest()), "PRC-006");
    PeerVerification unknown = verify(cut, pinned(AGT_KEY));
    assertThat(unknown.holds()).isTrue();
    assertThat(unknown.whole()).isFalse();
    assertThat(unknown.notVerified()).anyMatch(line -> line.startsWith("the end"));
  }

  @Test
  void anErrorThatNobodySignedIsRefused() {
    refused(
        changed(agt(), 1, r -> with(r, "error", JsonValue.of("timeout"))),
        pinned(AGT_KEY, 4),
        "PRC-008");
  }

  @Test
  void rewrittenDecisionsWithoutSignaturesAreRefused() {
    refused(PeerFiles.agtRewritten(Optional.empty()), pinned(AGT_KEY, 4), "PRC-003");
    refused(PeerFiles.agtRewritten(Optional.empty()), PeerFiles.unpinned(), "PRC-003");
  }

  @Test
  void rewrittenDecisionsThatAStrangerSignedAreRefusedOrNotPinned() {
    List<Obj> rewritten = PeerFiles.agtRewritten(Optional.of(PeerFiles.STRANGER));
    refused(rewritten, pinned(AGT_KEY, 4), "PRC-004");
    PeerVerification unpinned = verify(rewritten, PeerFiles.unpinned());
    assertThat(unpinned.holds()).isTrue();
    assertThat(unpinned.pinned()).isFalse();
    assertThat(unpinned.notVerified()).anyMatch(line -> line.startsWith("who signed"));
  }

  /** Each member of each receipt is signed, checked against what is signed, or refused. */
  @Test
  void noMemberCanBeChanged() {
    for (int at = 0; at < agt().size(); at++) {
      for (String key : agt().get(at).members().keySet()) {
        JsonValue other =
            agt().get(at).get(key) instanceof JsonValue.Num
                ? JsonValue.of(1_764_307_000)
                : JsonValue.of("0".repeat(64));
        PeerVerification result =
            verify(changed(agt(), at, r -> with(r, key, other)), pinned(AGT_KEY, 4));
        assertThat(result.holds()).as(key + " of receipt " + at).isFalse();
      }
      PeerVerification added =
          verify(changed(agt(), at, r -> with(r, "extra", JsonValue.TRUE)), pinned(AGT_KEY, 4));
      assertThat(added.failure().orElseThrow()).hasMessageStartingWith("PRC-008");
    }
  }

  @Test
  void receiptsCannotBeTakenOutMovedOrRepeated() {
    List<Obj> gap = new ArrayList<>(agt());
    gap.remove(1);
    refused(gap, pinned(AGT_KEY), "PRC-005");
    List<Obj> moved = new ArrayList<>(agt());
    moved.add(1, moved.remove(2));
    refused(moved, pinned(AGT_KEY), "PRC-005");
    List<Obj> twice = new ArrayList<>(agt());
    twice.add(twice.getLast());
    refused(twice, pinned(AGT_KEY), "PRC-005");
    refused(agt().subList(1, 4), pinned(AGT_KEY), "PRC-005");
  }

  @Test
  void aMissingMemberIsNamed() {
    PeerVerification result =
        verify(changed(agt(), 2, r -> PeerFiles.without(r, "args_hash")), pinned(AGT_KEY));
    assertThat(result.failure().orElseThrow())
        .hasMessageStartingWith("CAN-020 a field is missing: /2/args_hash");
  }

  @Test
  void whatIsNoChainIsRefused() {
    PeerVerification result = verify(JsonValue.of("receipts"), pinned(AGT_KEY));
    assertThat(result.format()).isEmpty();
    assertThat(result.failure().orElseThrow())
        .hasMessageStartingWith("PRC-001")
        .hasMessageContaining("agt-mcp, helm-v5");
  }
}
