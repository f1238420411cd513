package dev.writ.ledger;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedNote;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any note whatever: a checkpoint whose fields, written as C2SP says, are the note's very text, or
 * a refusal. So there are not two notes for one state of a log.
 */
class CheckpointFuzzTest {

  static Stream<byte[]> seeds() {
    SigningKey key = SigningKey.ed25519(new byte[32]);
    Digest root = Digest.sha256(new byte[0]);
    String extended =
        "log.example/x\n9\n"
            + Base64.getEncoder().encodeToString(root.bytes())
            + "\nan extension\n";
    return Stream.of(
        Checkpoint.sign("log.example/writ", 0, root, key).toBytes(),
        Checkpoint.sign("log.example/writ", (1L << 53) - 1, root, key).toBytes(),
        SignedNote.sign(extended, "log.example/x", key).toBytes());
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadSaysAllOfTheText(byte[] bytes) {
    Checkpoint read;
    try {
      read = Checkpoint.parse(bytes);
    } catch (WritException refused) {
      return;
    }
    String root = Base64.getEncoder().encodeToString(read.root().bytes());
    StringBuilder text = new StringBuilder(read.origin() + "\n" + read.size() + "\n" + root + "\n");
    read.extensions().forEach(line -> text.append(line).append('\n'));
    if (!text.toString().equals(read.note().text())
        || !new String(read.toBytes(), StandardCharsets.UTF_8)
            .equals(new String(bytes, StandardCharsets.UTF_8))) {
      throw new AssertionError("two spellings of one checkpoint");
    }
  }
}
