package dev.writ.replay.peer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.List;
import java.util.Optional;

/**
 * Receipts of the HELM AI Kernel with the signature version receipt.v5 (its receipt-v5.md, 1.0.0,
 * and {@code ReceiptChainHash}, commit 24a64557).
 */
final class HelmV5Format implements PeerFormat {
  private static final String VERSION = "receipt.v5";

  /** Signed, and left out of the digest of the whole receipt where it is empty. */
  private static final List<String> MAY_BE_EMPTY =
      List.of("output_hash", "args_hash", "verdict", "reason_code", "policy_hash", "session_id");

  private static final List<String> ALWAYS =
      List.of("signature_version", "receipt_id", "decision_id", "effect_id", "status", "prev_hash");
  private static final List<String> AFTER_THE_DIGEST =
      List.of("transparency", "log_id", "leaf_index");

  @Override
  public String name() {
    return "helm-v5";
  }

  @Override
  public Optional<List<JsonValue.Obj>> receipts(JsonValue text) {
    if (text instanceof JsonValue.Obj one && one.get("receipts") == null) {
      return Optional.of(List.of(one)).filter(HelmV5Format::ofHelm);
    }
    return Peers.array(text instanceof JsonValue.Obj file ? file.get("receipts") : text)
        .filter(HelmV5Format::ofHelm);
  }

  private static boolean ofHelm(List<JsonValue.Obj> receipts) {
    return receipts.stream().allMatch(r -> r.get("effect_id") != null);
  }

  @Override
  public PeerReceipt read(String path, JsonValue.Obj receipt) {
    Fields fields = Fields.of(path, receipt);
    requireForm(path, fields);
    ObjectBuilder signed = JsonValue.object().put("lamport_clock", fields.count("lamport_clock"));
    ALWAYS.forEach(key -> signed.put(key, fields.string(key)));
    MAY_BE_EMPTY.forEach(key -> signed.put(key, fields.string(key)));
    Optional<byte[]> signature =
        Peers.text(fields, "signature").filter(s -> !s.isEmpty()).flatMap(Peers::hex);
    Optional<String> ownKey =
        fields.has("public_key_set")
            ? Peers.text(fields.fields("public_key_set"), "ed25519")
            : Optional.empty();
    JsonValue.Obj statement = signed.build();
    return new PeerReceipt(
        fields.string("receipt_id"),
        List.of(Jcs.write(statement)),
        signature,
        ownKey,
        Optional.of(fields.string("prev_hash")).filter(h -> !h.isEmpty()),
        List.of(digest(receipt)),
        receipt.members().keySet().stream()
            .filter(key -> statement.get(key) == null && !key.equals("signature"))
            .toList());
  }

  private static void requireForm(String path, Fields fields) {
    if (!fields.has("signature_version")) {
      throw new WritException(PeerError.WEAK_FORM, path + " has no signature_version");
    }
    if (!fields.string("signature_version").equals(VERSION)) {
      throw new WritException(PeerError.WEAK_FORM, path + "/signature_version is not " + VERSION);
    }
    String declared =
        Peers.text(fields, "signature_profile").orElse("")
            + "/"
            + Peers.text(fields, "signature_algorithm").orElse("");
    if (!declared.equals("/") && !declared.equals("classical/ed25519")) {
      throw new WritException(
          PeerError.WEAK_FORM, path + " declares another algorithm than classical/ed25519");
    }
  }

  private static String digest(JsonValue.Obj receipt) {
    ObjectBuilder hashed = JsonValue.object();
    receipt
        .members()
        .forEach((key, value) -> {
          boolean leftOut =
              AFTER_THE_DIGEST.contains(key)
                  || MAY_BE_EMPTY.contains(key) && value.equals(JsonValue.of(""));
          if (!leftOut) {
            hashed.put(key, value);
          }
        });
    return Jcs.digest(hashed.build()).hex();
  }

  @Override
  public boolean mayBeginLater() {
    return true;
  }

  @Override
  public void follows(String path, JsonValue.Obj before, JsonValue.Obj after) {
    long earlier = Fields.of(path, before).count("lamport_clock");
    long later = Fields.of(path, after).count("lamport_clock");
    if (later <= earlier) {
      throw new WritException(
          PeerError.CHAIN, path + "/lamport_clock is " + later + " after " + earlier);
    }
  }

  @Override
  public String covers() {
    return "ids of receipt, decision and effect, status, verdict and its reason, digests of"
        + " arguments, output and policy, session and Lamport clock";
  }

  @Override
  public List<String> leavesOpen() {
    return List.of(
        "that an effect happened once: nothing durable comes before it is dispatched",
        "the decision: a receipt has its id, not the decision and its signature",
        "arguments, output and policy: a receipt has their digests",
        "the times: they are not signed by the receipt itself",
        "permits, evidence packs and transparency logs: they are not read");
  }
}
