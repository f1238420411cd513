package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Fields;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GoldenCheckpointTest {
  static List<Vectors.Vector> vectors() {
    return Vectors.load("checkpoint");
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void the_vector_holds(Vectors.Vector vector) {
    Fields input = vector.input();
    Fields expect = vector.expect();
    byte[] note = input.string("note").getBytes(StandardCharsets.UTF_8);
    if (vector.op().equals("cosignature.verify")) {
      theCosignatureHolds(note, input.string("vkey"), expect);
      return;
    }
    String key = input.string("vkey");
    String origin = input.string("origin");
    if (expect.has("code")) {
      Refused.with(expect.string("code"), () -> verify(note, origin, key));
    } else {
      Checkpoint checkpoint = verify(note, origin, key);
      assertThat(checkpoint.size()).isEqualTo(expect.integer("size"));
      assertThat(StrictBase64.encode(checkpoint.root().bytes()))
          .isEqualTo(expect.string("root_b64"));
      assertThat(checkpoint.extensions()).isEqualTo(expect.list("extensions", Fields::stringItem));
      assertThat(checkpoint.toBytes()).isEqualTo(note);
    }
    expect.end();
    input.end();
  }

  private static void theCosignatureHolds(byte[] note, String vkey, Fields expect) {
    if (expect.has("code") && expect.string("code").equals("LED-053")) {
      assertThat(Cosignature.of(Checkpoint.parse(note), WitnessKey.parse(vkey))).isEmpty();
    } else if (expect.has("code")) {
      Refused.with(
          expect.string("code"),
          () -> Cosignature.of(Checkpoint.parse(note), WitnessKey.parse(vkey)));
    } else {
      Cosignature found =
          Cosignature.of(Checkpoint.parse(note), WitnessKey.parse(vkey)).orElseThrow();
      assertThat(found.at().getEpochSecond()).isEqualTo(expect.integer("time"));
      assertThat(found.by().toString()).isEqualTo(vkey);
    }
  }

  private static Checkpoint verify(byte[] note, String origin, String key) {
    Checkpoint checkpoint = Checkpoint.parse(note);
    checkpoint.verify(origin, NoteKey.parse(key));
    return checkpoint;
  }
}
