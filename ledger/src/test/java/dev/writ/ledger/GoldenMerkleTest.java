package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Fields;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GoldenMerkleTest {
  static List<Vectors.Vector> vectors() {
    return Vectors.load("merkle");
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void the_vector_holds(Vectors.Vector vector) {
    Fields input = vector.input();
    Fields expect = vector.expect();
    switch (vector.op()) {
      case "merkle.leaf" ->
          assertThat(text(Merkle.leafHash(bytes(input, "entry_b64"))))
              .isEqualTo(expect.string("leaf_hash_b64"));
      case "merkle.root" -> {
        List<Digest> leaves =
            input.list(
                "entries_b64",
                (path, value) ->
                    Merkle.leafHash(StrictBase64.decode(path, Fields.stringItem(path, value))));
        assertThat(text(Merkle.root(leaves))).isEqualTo(expect.string("root_b64"));
      }
      default -> {
        if (expect.has("code")) {
          Refused.with(expect.string("code"), () -> verify(vector.op(), input));
        } else {
          assertThat(expect.bool("valid")).isTrue();
          verify(vector.op(), input);
        }
      }
    }
    expect.end();
  }

  private static byte[] bytes(Fields fields, String key) {
    return StrictBase64.decode(key, fields.string(key));
  }

  private static String text(Digest digest) {
    return StrictBase64.encode(digest.bytes());
  }

  private static Digest digest(Fields fields, String key) {
    return Digest.ofBytes(bytes(fields, key));
  }

  private static void verify(String op, Fields input) {
    MerkleProof proof =
        new MerkleProof(
            input.list(
                "proof_b64",
                (path, value) ->
                    Digest.ofBytes(StrictBase64.decode(path, Fields.stringItem(path, value)))));
    switch (op) {
      case "merkle.inclusion" ->
          Merkle.verifyInclusion(
              digest(input, "leaf_hash_b64"),
              input.integer("index"),
              input.integer("size"),
              proof,
              digest(input, "root_b64"));
      case "merkle.consistency" ->
          Merkle.verifyConsistency(
              input.integer("size1"),
              digest(input, "root1_b64"),
              input.integer("size2"),
              digest(input, "root2_b64"),
              proof);
      default -> throw new AssertionError(op);
    }
    input.end();
  }
}
