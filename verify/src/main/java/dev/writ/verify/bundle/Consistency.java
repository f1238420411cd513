package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.merkle.MerkleProof;

/** {@code log/consistency.json}: a proof that the log of size2 continues that of size1. */
record Consistency(long size1, long size2, MerkleProof path) {
  /**
   * @throws WritException {@code CAN-02x} for another form
   */
  static Consistency read(JsonValue document) {
    Fields fields = Fields.of("consistency", document);
    Consistency proof =
        new Consistency(
            fields.count("size1"), fields.count("size2"), MerkleProof.read(fields, "path"));
    fields.end();
    return proof;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("path", path.toJson())
        .put("size1", size1)
        .put("size2", size2)
        .build();
  }
}
