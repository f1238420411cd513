package dev.writ.replay;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.merkle.MerkleProof;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * {@code log/proofs.json}: where each event is in the log, and its inclusion proof. Proofs of one
 * tree share most of their hashes, so each hash is written once, in the order of first use.
 */
record Proofs(List<Proof> run, List<Proof> system, List<Proof> consumed) {
  /** The proof of the event in the same line of its journal. */
  record Proof(long index, MerkleProof path) {}

  Proofs {
    run = List.copyOf(run);
    system = List.copyOf(system);
    consumed = List.copyOf(consumed);
  }

  /**
   * @throws WritException {@code RPL-033} for any other form than {@link #toBytes} gives
   */
  static Proofs parse(byte[] bytes) {
    Fields fields = Fields.of("proofs", Jcs.parseCanonical(bytes, Layout.LIMITS));
    List<Digest> hashes = fields.list("hashes", Fields::digestItem);
    Proofs proofs =
        new Proofs(
            fields.list("run", (path, value) -> proof(path, value, hashes)),
            fields.list("system", (path, value) -> proof(path, value, hashes)),
            fields.list("consumed", (path, value) -> proof(path, value, hashes)));
    fields.end();
    byte[] again = proofs.toBytes();
    if (!Arrays.equals(again, bytes)) {
      throw new WritException(
          ReplayError.EVENT_PROOF,
          Layout.PROOFS + " has hashes twice, unused, or out of the order of their first use");
    }
    return proofs;
  }

  private static Proof proof(String path, JsonValue value, List<Digest> hashes) {
    Fields fields = Fields.of(path, value);
    Proof proof =
        new Proof(
            fields.count("index"),
            new MerkleProof(fields.list("path", (place, item) -> hash(place, item, hashes))));
    fields.end();
    return proof;
  }

  private static Digest hash(String place, JsonValue item, List<Digest> hashes) {
    if (item instanceof JsonValue.Num n
        && n.isInteger()
        && n.value() >= 0
        && n.value() < hashes.size()) {
      return hashes.get((int) n.value());
    }
    throw new WritException(
        ReplayError.EVENT_PROOF, place + " is none of the " + hashes.size() + " hashes");
  }

  byte[] toBytes() {
    LinkedHashMap<Digest, Long> hashes = new LinkedHashMap<>();
    JsonValue.Arr runProofs = list(run, hashes);
    JsonValue.Arr systemProofs = list(system, hashes);
    JsonValue.Arr consumedProofs = list(consumed, hashes);
    return Jcs.write(
        JsonValue.object()
            .put("run", runProofs)
            .put("system", systemProofs)
            .put("consumed", consumedProofs)
            .putList("hashes", List.copyOf(hashes.keySet()), d -> JsonValue.of(d.toString()))
            .build());
  }

  private static JsonValue.Arr list(List<Proof> proofs, LinkedHashMap<Digest, Long> hashes) {
    List<JsonValue> list = new ArrayList<>();
    for (Proof proof : proofs) {
      List<JsonValue> path = new ArrayList<>();
      for (Digest hash : proof.path().hashes()) {
        Long known = hashes.putIfAbsent(hash, (long) hashes.size());
        path.add(JsonValue.of(known == null ? hashes.size() - 1 : known));
      }
      list.add(
          JsonValue.object().put("index", proof.index()).put("path", JsonValue.of(path)).build());
    }
    return JsonValue.of(list);
  }
}
