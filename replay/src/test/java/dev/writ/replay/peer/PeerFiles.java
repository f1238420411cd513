package dev.writ.replay.peer;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.JsonValue.Obj;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.fixture.TestKeys;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Chains that the systems of others wrote, and changes to them. */
final class PeerFiles {
  /** Who signed {@link #agt}: the key whose secret is 32 bytes of 7. */
  static final String AGT_KEY = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";

  /** Who signed {@link #helm}. */
  static final String HELM_KEY = "79b5562e8fe654f94078b112e8a98ba7901f853ae695bed7e0e3910bad049664";

  static final SigningKey STRANGER = TestKeys.key("stranger");

  private PeerFiles() {}

  /**
   * Four receipts that Microsoft's own Python code made and signed on 2026-11-28 (commit b5705588):
   * one with whole seconds as a float, one as an integer, one with characters that JSON escapes.
   */
  static List<Obj> agt() {
    try (InputStream in =
        Objects.requireNonNull(PeerFiles.class.getResourceAsStream("agt-mcp.json"))) {
      return Peers.array(Jcs.parse(in.readAllBytes())).orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Three receipts with the values of HELM's own frozen-chain-2026.json (commit 24a64557), of which
   * the signatures and digests are.
   */
  static List<Obj> helm() {
    return List.of(
        helm(
            1,
            "",
            "22dd1755f0ef0d2ec4f748164d4594553f0fbfde51111fd69bdcc1a7529beeb3"
                + "42d9ef4cb53a87979dcd29ee7fdc23d37d1e8937cc0cb6876db72ab6c98f770d"),
        helm(
            2,
            "7ddb403ce5b6d7068ef1c48841fd6b3e8e7cae66e4767eca62ecc80a5957180e",
            "22e4a0e42b8f7efb7f50bd88bc5670b354eb106b1147e57241f197ea16020fc4"
                + "bac12acf7c4064dfb08e1fa77554e6ae5a4bfd4fddda83b3ec42c63a5641ff03"),
        helm(
            3,
            "d474ce7c63b2f8d2b719e0a3e512281d7a9f3b1087655d62659005c110cac70f",
            "34df841a55254d4770bfe3479299037f4b59072472f217acd8b3227753794502"
                + "2969176a9a6ffce7d65f73f6a95853c7a3263df9bf4820bdab25962a4a127d0e"));
  }

  private static Obj helm(int number, String before, String signature) {
    String id = "rcpt-00" + number;
    String never = "0001-01-01T00:00:00Z";
    return JsonValue.object()
        .put("receipt_id", id)
        .put("decision_id", "dec-" + id)
        .put("effect_id", "eff-" + id)
        .put("external_reference_id", "")
        .put("status", "COMPLETED")
        .put("timestamp", "2026-08-09T12:00:00Z")
        .put("signature", signature)
        .put("key_id", "frozen-fixture-key-1")
        .put("prev_hash", before)
        .put("lamport_clock", number)
        .put("signature_version", "receipt.v5")
        .put("created_at", never)
        .put("installed_at", never)
        .put("issued_at", never)
        .put("output_hash", "sha256:out-" + id)
        .put("args_hash", "sha256:args-" + id)
        .put("verdict", "ALLOW")
        .put("reason_code", "POLICY_SATISFIED")
        .put("policy_hash", "sha256:policy-frozen-v1")
        .put("session_id", "sess-frozen-2026")
        .build();
  }

  static Obj with(Obj object, String key, JsonValue value) {
    ObjectBuilder changed = JsonValue.object();
    object
        .members()
        .forEach((k, v) -> {
          if (!k.equals(key)) {
            changed.put(k, v);
          }
        });
    return changed.put(key, value).build();
  }

  static Obj without(Obj object, String key) {
    ObjectBuilder changed = JsonValue.object();
    object
        .members()
        .forEach((k, v) -> {
          if (!k.equals(key)) {
            changed.put(k, v);
          }
        });
    return changed.build();
  }

  static List<Obj> changed(List<Obj> chain, int at, UnaryOperator<Obj> change) {
    List<Obj> copy = new ArrayList<>(chain);
    copy.set(at, change.apply(copy.get(at)));
    return copy;
  }

  /**
   * The chain of AGT with every decision turned, and chained again; signed by nobody or by a key.
   */
  static List<Obj> agtRewritten(Optional<SigningKey> signer) {
    List<Obj> rewritten = new ArrayList<>();
    JsonValue before = JsonValue.NULL;
    for (Obj receipt : agt()) {
      Obj turned = with(receipt, "cedar_decision", JsonValue.of("allow"));
      turned = with(turned, "timestamp", new JsonValue.Num(1.5 + rewritten.size()));
      turned = with(turned, "parent_receipt_hash", before);
      byte[] signed = signedByAgt(turned);
      String digest = Digest.sha256(signed).hex();
      turned = with(turned, "payload_hash", JsonValue.of(digest));
      turned = with(turned, "signature", JsonValue.NULL);
      turned = with(turned, "signer_public_key", JsonValue.NULL);
      if (signer.isPresent()) {
        SigningKey key = signer.get();
        turned = with(turned, "signature", hex(key.sign(signed)));
        turned = with(turned, "signer_public_key", hex(key.verifyingKey().bytes()));
      }
      rewritten.add(turned);
      before = JsonValue.of(digest);
    }
    return rewritten;
  }

  private static byte[] signedByAgt(Obj receipt) {
    Obj signed = receipt;
    for (String key : List.of("payload_hash", "signature", "signer_public_key", "error")) {
      signed = without(signed, key);
    }
    for (String key : List.of("parent_receipt_hash", "session_id")) {
      signed = signed.get(key) instanceof JsonValue.Null ? without(signed, key) : signed;
    }
    return Jcs.write(signed);
  }

  static JsonValue hex(byte[] bytes) {
    return JsonValue.of(HexFormat.of().formatHex(bytes));
  }

  static PeerVerification verify(JsonValue file, PeerVerification.Options options) {
    return PeerVerification.of(Jcs.write(file), options);
  }

  static PeerVerification verify(List<Obj> chain, PeerVerification.Options options) {
    return verify(JsonValue.of(chain), options);
  }

  /** A pinned key, and nothing known of the end. */
  static PeerVerification.Options pinned(String key) {
    return new PeerVerification.Options(keys(key), Optional.empty(), Optional.empty());
  }

  static PeerVerification.Options pinned(String key, long count) {
    return new PeerVerification.Options(keys(key), Optional.empty(), Optional.of(count));
  }

  static PeerVerification.Options pinned(String key, String last) {
    return new PeerVerification.Options(keys(key), Optional.of(last), Optional.empty());
  }

  static PeerVerification.Options unpinned() {
    return new PeerVerification.Options(List.of(), Optional.empty(), Optional.empty());
  }

  private static List<VerifyingKey> keys(String key) {
    return List.of(PeerKeys.parse(key).orElseThrow());
  }
}
