package dev.writ.ledger;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.note.NoteKey;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any text whatever: a key that is written as that very text, or a refusal. */
class NoteKeyFuzzTest {

  static Stream<byte[]> seeds() {
    NoteKey key = new NoteKey("log.example/writ", SigningKey.ed25519(new byte[32]).verifyingKey());
    return Stream.of(
        key.toString().getBytes(StandardCharsets.UTF_8),
        ("not" + key).getBytes(StandardCharsets.UTF_8));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadIsWrittenBack(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    // Every second input is fuzzed as a name under its right id, which no fuzzer finds.
    requireWrittenBack(text);
    try {
      requireWrittenBack(
          new NoteKey(text, SigningKey.ed25519(new byte[32]).verifyingKey()).toString());
    } catch (WritException refused) {
      return;
    }
  }

  private static void requireWrittenBack(String text) {
    NoteKey key;
    try {
      key = NoteKey.parse(text);
    } catch (WritException refused) {
      return;
    }
    if (!key.toString().equals(text)) {
      throw new AssertionError("two spellings of one key");
    }
  }
}
