package dev.writ.replay.peer;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * What {@code ReceiptStore.export()} of the package mcp-receipt-governed writes (Microsoft's Agent
 * Governance Toolkit, commit b5705588).
 */
final class AgtMcpFormat implements PeerFormat {
  private static final List<String> ALWAYS =
      List.of(
          "agent_did",
          "args_hash",
          "cedar_decision",
          "cedar_policy_id",
          "receipt_id",
          "timestamp",
          "tool_name");
  private static final List<String> WHERE_NOT_NULL = List.of("parent_receipt_hash", "session_id");

  @Override
  public String name() {
    return "agt-mcp";
  }

  @Override
  public Optional<List<JsonValue.Obj>> receipts(JsonValue text) {
    return Peers.array(text)
        .filter(all -> all.stream().allMatch(r -> r.get("cedar_decision") != null));
  }

  @Override
  public PeerReceipt read(String path, JsonValue.Obj receipt) {
    Fields fields = Fields.of(path, receipt);
    ObjectBuilder signed = JsonValue.object();
    for (String key : ALWAYS) {
      signed.put(key, key.equals("timestamp") ? number(fields) : JsonValue.of(fields.string(key)));
    }
    for (String key : WHERE_NOT_NULL) {
      Peers.text(fields, key).ifPresent(text -> signed.put(key, text));
    }
    List<byte[]> spellings = spellings(Jcs.write(signed.build()), number(fields));
    List<String> digests = spellings.stream().map(s -> Digest.sha256(s).hex()).toList();
    if (Peers.text(fields, "payload_hash").filter(h -> !digests.contains(h)).isPresent()) {
      throw new WritException(
          PeerError.CHAIN, path + "/payload_hash is not the digest of what was signed");
    }
    if (Peers.text(fields, "error").isPresent()) {
      throw new WritException(PeerError.UNSIGNED_STATEMENT, path + "/error");
    }
    Optional<byte[]> signature = Peers.text(fields, "signature").flatMap(Peers::hex);
    Optional<String> key = Peers.text(fields, "signer_public_key");
    Peers.end(fields);
    return new PeerReceipt(
        fields.string("receipt_id"),
        spellings,
        signature,
        key,
        Peers.text(fields, "parent_receipt_hash"),
        digests,
        List.of());
  }

  private static JsonValue.Num number(Fields fields) {
    return Peers.number(fields, "timestamp");
  }

  /**
   * Python writes a whole number of seconds with .0 behind it if it is a float, as RFC 8785 does
   * not.
   */
  private static List<byte[]> spellings(byte[] canonical, JsonValue.Num timestamp) {
    if (!timestamp.isInteger()) {
      return List.of(canonical);
    }
    String text = new String(canonical, StandardCharsets.UTF_8);
    String member = "\"timestamp\":" + new String(Jcs.write(timestamp), StandardCharsets.UTF_8);
    String asFloat = text.replace(member + ",\"tool_name\":", member + ".0,\"tool_name\":");
    return List.of(asFloat.getBytes(StandardCharsets.UTF_8), canonical);
  }

  @Override
  public boolean mayBeginLater() {
    return false;
  }

  @Override
  public void follows(String path, JsonValue.Obj before, JsonValue.Obj after) {
    // The digests say it all: times of two receipts may be equal, and clocks go back.
  }

  @Override
  public String covers() {
    return "agent, tool, digest of the arguments, decision, name of the policy, time and session";
  }

  @Override
  public List<String> leavesOpen() {
    return List.of(
        "what a call did: a receipt is signed before the call, and states no result",
        "that a call that was allowed happened, or happened once: nothing is written after it",
        "errors: the member `error` is not signed; one that was there may have been taken out",
        "the policy: a receipt has its name, not its text or digest",
        "the arguments: a receipt has their digest",
        "the times: they are what the signer's clock said");
  }
}
