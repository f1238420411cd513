package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import java.util.HexFormat;
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
    String kind = input.string("kind");
    if (kind.equals("root")) {
      List<Digest> leaves =
          input.list(
              "entries",
              (path, value) ->
                  Merkle.leafHash(HexFormat.of().parseHex(Fields.stringItem(path, value))));
      assertThat(Merkle.root(leaves)).isEqualTo(expect.digest("root"));
    } else if (expect.has("error")) {
      Refused.with(expect.string("error"), () -> verify(kind, input));
    } else {
      assertThat(expect.string("result")).isEqualTo("accepted");
      verify(kind, input);
    }
    expect.end();
    input.end();
  }

  private static void verify(String kind, Fields input) {
    MerkleProof proof = MerkleProof.read(input, "proof");
    switch (kind) {
      case "inclusion" -> {
        Digest leaf = Merkle.leafHash(HexFormat.of().parseHex(input.string("entry")));
        long index = input.integer("index");
        long size = input.integer("size");
        Digest root = input.digest("root");
        Merkle.verifyInclusion(leaf, index, size, proof, root);
      }
      case "consistency" -> {
        long size1 = input.integer("size1");
        long size2 = input.integer("size2");
        Digest root1 = input.digest("root1");
        Digest root2 = input.digest("root2");
        Merkle.verifyConsistency(size1, root1, size2, root2, proof);
      }
      default -> throw new AssertionError(kind);
    }
  }
}
