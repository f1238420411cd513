package dev.writ.conform.op;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.adapter.Operation;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SortedMap;

/** The Merkle log and its checkpoints. */
final class LogOps {
  private LogOps() {}

  static void addTo(SortedMap<String, Operation> operations) {
    operations.put("merkle.leaf", LogOps::leaf);
    operations.put("merkle.root", LogOps::root);
    operations.put("merkle.inclusion", LogOps::inclusion);
    operations.put("merkle.consistency", LogOps::consistency);
    operations.put("checkpoint.verify", LogOps::checkpoint);
    operations.put("cosignature.verify", LogOps::cosignature);
  }

  private static JsonValue.Obj leaf(Fields input) {
    return Bytes.put("leaf_hash_b64", Merkle.leafHash(Bytes.get(input, "entry_b64"))).build();
  }

  private static JsonValue.Obj root(Fields input) {
    List<Digest> leaves = Bytes.list(input, "entries_b64").stream().map(Merkle::leafHash).toList();
    return Bytes.put("root_b64", Merkle.root(leaves)).build();
  }

  private static MerkleProof proof(Fields input) {
    return new MerkleProof(Bytes.list(input, "proof_b64").stream().map(Digest::ofBytes).toList());
  }

  private static JsonValue.Obj inclusion(Fields input) {
    Merkle.verifyInclusion(
        Bytes.digest(input, "leaf_hash_b64"),
        input.integer("index"),
        input.integer("size"),
        proof(input),
        Bytes.digest(input, "root_b64"));
    return Bytes.valid();
  }

  private static JsonValue.Obj consistency(Fields input) {
    Merkle.verifyConsistency(
        input.integer("size1"),
        Bytes.digest(input, "root1_b64"),
        input.integer("size2"),
        Bytes.digest(input, "root2_b64"),
        proof(input));
    return Bytes.valid();
  }

  private static JsonValue.Obj checkpoint(Fields input) {
    NoteKey key = NoteKey.parse(input.string("vkey"));
    Checkpoint checkpoint = Checkpoint.parse(input.string("note").getBytes(StandardCharsets.UTF_8));
    checkpoint.verify(input.optional("origin", input::string).orElse(key.name()), key);
    return JsonValue.object()
        .putList("extensions", checkpoint.extensions(), JsonValue::of)
        .put("root_b64", StrictBase64.encode(checkpoint.root().bytes()))
        .put("size", checkpoint.size())
        .build();
  }

  private static JsonValue.Obj cosignature(Fields input) {
    WitnessKey key = WitnessKey.parse(input.string("vkey"));
    Checkpoint checkpoint = Checkpoint.parse(input.string("note").getBytes(StandardCharsets.UTF_8));
    Cosignature found =
        Cosignature.of(checkpoint, key)
            .orElseThrow(() -> new WritException(LedgerError.NOTE_UNSIGNED, "witness " + key));
    return JsonValue.object().put("time", found.at().getEpochSecond()).build();
  }
}
