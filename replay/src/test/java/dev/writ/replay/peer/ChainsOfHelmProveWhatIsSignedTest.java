package dev.writ.replay.peer;

import static dev.writ.replay.peer.PeerFiles.HELM_KEY;
import static dev.writ.replay.peer.PeerFiles.changed;
import static dev.writ.replay.peer.PeerFiles.helm;
import static dev.writ.replay.peer.PeerFiles.pinned;
import static dev.writ.replay.peer.PeerFiles.verify;
import static dev.writ.replay.peer.PeerFiles.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.JsonValue.Obj;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A chain of HELM proves what its signatures cover, and the output names the rest. */
class ChainsOfHelmProveWhatIsSignedTest {
  private static final List<String> SIGNED =
      List.of(
          "args_hash",
          "decision_id",
          "effect_id",
          "lamport_clock",
          "output_hash",
          "policy_hash",
          "prev_hash",
          "reason_code",
          "receipt_id",
          "session_id",
          "signature",
          "signature_version",
          "status",
          "verdict");

  private static void refused(List<Obj> chain, PeerVerification.Options options, String code) {
    assertThat(verify(chain, options).failure().orElseThrow()).hasMessageStartingWith(code);
  }

  @Test
  void aChainThatHelmSignedHolds() {
    PeerVerification result = verify(helm(), pinned(HELM_KEY, 3));
    assertThat(result.failure()).isEmpty();
    assertThat(result.format()).contains("helm-v5");
    assertThat(result.verified().getFirst()).contains("a pinned key, 79b5562e8fe654f9: ");
    assertThat(result.notVerified())
        .contains(
            "of the last receipt, which no signature holds: created_at, external_reference_id,"
                + " installed_at, issued_at, key_id, timestamp");
    Obj file = JsonValue.object().putList("receipts", helm(), r -> r).build();
    assertThat(verify(file, pinned(HELM_KEY, 3)).failure()).isEmpty();
    assertThat(verify(helm().getFirst(), pinned(HELM_KEY, 1)).failure()).isEmpty();
  }

  /** The unsigned members of a receipt are in the digest that the next one signs. */
  @Test
  void aMemberIsHeldByItsSignatureOrTheNextOne() {
    for (int at = 0; at < 3; at++) {
      TreeSet<String> loose = new TreeSet<>();
      for (String key : helm().get(at).members().keySet()) {
        JsonValue other = key.equals("lamport_clock") ? JsonValue.of(9) : JsonValue.of("other");
        if (verify(changed(helm(), at, r -> with(r, key, other)), pinned(HELM_KEY, 3)).holds()) {
          loose.add(key);
        }
      }
      assertThat(loose)
          .isEqualTo(
              at < 2
                  ? new TreeSet<>()
                  : new TreeSet<>(
                      helm().get(at).members().keySet().stream()
                          .filter(key -> !SIGNED.contains(key))
                          .toList()));
    }
  }

  @Test
  void aChainThatBeginsLaterSaysSo() {
    PeerVerification result = verify(helm().subList(1, 3), pinned(HELM_KEY, 2));
    assertThat(result.failure()).isEmpty();
    assertThat(result.whole()).isFalse();
    assertThat(verify(helm(), pinned(HELM_KEY, 3)).whole()).isTrue();
    assertThat(result.notVerified()).anyMatch(line -> line.startsWith("what came before"));
  }

  @Test
  void receiptsCannotBeTakenOutOrCutOff() {
    List<Obj> gap = new ArrayList<>(helm());
    gap.remove(1);
    refused(gap, pinned(HELM_KEY), "PRC-005");
    refused(helm().subList(0, 2), pinned(HELM_KEY, 3), "PRC-006");
    refused(List.of(), pinned(HELM_KEY, 0), "PRC-002");
  }

  @Test
  void aClockThatDoesNotAdvanceIsRefused() {
    SigningKey key = PeerFiles.STRANGER;
    String hex = HexFormat.of().formatHex(key.verifyingKey().bytes());
    Obj first = signed(key, with(helm().getFirst(), "lamport_clock", JsonValue.of(5)));
    Obj second = with(helm().get(1), "prev_hash", JsonValue.of(Jcs.digest(first).hex()));
    refused(
        List.of(first, signed(key, with(second, "lamport_clock", JsonValue.of(5)))),
        pinned(hex),
        "PRC-005");
    Obj later = signed(key, with(second, "lamport_clock", JsonValue.of(6)));
    assertThat(verify(List.of(first, later), pinned(hex, 2)).failure()).isEmpty();
  }

  @Test
  void emptySignedMembersAreSignedAndLeftOutOfTheDigest() {
    SigningKey key = PeerFiles.STRANGER;
    String hex = HexFormat.of().formatHex(key.verifyingKey().bytes());
    Obj first = signed(key, with(helm().getFirst(), "verdict", JsonValue.of("")));
    String digest = Jcs.digest(PeerFiles.without(first, "verdict")).hex();
    Obj second = signed(key, with(helm().get(1), "prev_hash", JsonValue.of(digest)));
    assertThat(verify(List.of(first, second), pinned(hex, 2)).failure()).isEmpty();
    refused(List.of(PeerFiles.without(first, "verdict"), second), pinned(hex, 2), "CAN-020");
  }

  @Test
  void aFormWhoseBytesAreAmbiguousIsRefused() {
    refused(
        changed(helm(), 0, r -> PeerFiles.without(r, "signature_version")),
        pinned(HELM_KEY),
        "PRC-007");
    refused(
        changed(helm(), 0, r -> with(r, "signature_version", JsonValue.of("receipt.v4"))),
        pinned(HELM_KEY),
        "PRC-007");
    refused(
        changed(helm(), 2, r -> with(r, "signature_algorithm", JsonValue.of("ml-dsa-65"))),
        pinned(HELM_KEY),
        "PRC-007");
  }

  @Test
  void aReceiptThatIsNotSignedIsRefused() {
    refused(
        changed(helm(), 2, r -> PeerFiles.without(r, "signature")), pinned(HELM_KEY), "PRC-003");
    refused(helm(), PeerFiles.unpinned(), "PRC-004");
  }

  private static Obj signed(SigningKey key, Obj receipt) {
    Obj statement = receipt;
    for (String member : receipt.members().keySet()) {
      if (!SIGNED.contains(member) || member.equals("signature")) {
        statement = PeerFiles.without(statement, member);
      }
    }
    return with(receipt, "signature", PeerFiles.hex(key.sign(Jcs.write(statement))));
  }
}
