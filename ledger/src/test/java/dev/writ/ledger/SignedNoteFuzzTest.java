package dev.writ.ledger;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.note.SignedNote;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any bytes whatever: a note that is written as those very bytes, or a refusal. */
class SignedNoteFuzzTest {

  static Stream<byte[]> seeds() {
    SignedNote one = SignedNote.sign("text\n\nof it\n", "name", SigningKey.ed25519(new byte[32]));
    SignedNote two =
        new SignedNote(
            one.text(), List.of(one.signatures().getFirst(), one.signatures().getFirst()));
    return Stream.of(one.toBytes(), two.toBytes());
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadIsWrittenBack(byte[] bytes) {
    SignedNote note;
    try {
      note = SignedNote.parse(bytes);
    } catch (WritException refused) {
      return;
    }
    if (!Arrays.equals(note.toBytes(), bytes)) {
      throw new AssertionError("two spellings of one note");
    }
  }
}
