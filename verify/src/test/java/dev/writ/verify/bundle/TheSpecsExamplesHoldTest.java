package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.merkle.NodeSource;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The worked examples of spec/bundle.md, by our own code. */
class TheSpecsExamplesHoldTest {
  private static final List<Digest> LEAVES =
      Stream.of("a", "b", "c", "d", "e")
          .map(line -> Merkle.leafHash(line.getBytes(StandardCharsets.US_ASCII)))
          .toList();

  private static byte[] example(String heading) throws Exception {
    String page = Files.readString(Path.of("..", "spec", "bundle.md"));
    int from = page.indexOf("```json canonical\n", page.indexOf("\n## " + heading)) + 18;
    return Jcs.canonicalize(
        page.substring(from, page.indexOf("```", from)).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void theInclusionProofOfTwoEventsOfFive() throws Exception {
    byte[] json = example("Inclusion");
    Inclusion inclusion =
        Inclusion.open(from -> {
          var in = new ByteArrayInputStream(json);
          in.skip(from);
          return in;
        });
    assertThat(inclusion.events(RecordedRun.Journal.RUN)).isEqualTo(1);
    Inclusion.Ranges run = inclusion.ranges(RecordedRun.Journal.RUN);
    assertThat(run.next()).isTrue();
    assertThat(run.first()).isEqualTo(4);
    Inclusion.Hashes hashes = inclusion.hashes();
    assertThat(hashes.next()).isTrue();
    Digest left = Merkle.nodeHash(hashes.hash(), LEAVES.get(1));
    assertThat(hashes.next()).isTrue();
    Digest root = Merkle.nodeHash(Merkle.nodeHash(left, hashes.hash()), LEAVES.get(4));
    assertThat(hashes.next()).isFalse();
    assertThat(root).isEqualTo(Merkle.root(LEAVES));
    assertThat(Files.readString(Path.of("..", "spec", "bundle.md"))).contains("`" + root + "`");
  }

  @Test
  void theConsistencyProofFromThreeToFive() throws Exception {
    Consistency proof = Consistency.read(Jcs.parse(example("Consistency")));
    MerkleProof made = Merkle.consistencyProof(NodeSource.ofLeaves(LEAVES), 3, 5);
    assertThat(proof).isEqualTo(new Consistency(3, 5, made));
    Merkle.verifyConsistency(
        3, Merkle.root(LEAVES.subList(0, 3)), 5, Merkle.root(LEAVES), proof.path());
  }
}
