package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.event.Event;
import dev.writ.verify.error.BundleError;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A bundle that is longer than what is read ahead at once: 384 events, 1,024 lines or entries, 64
 * KiB of the file. Damage just before, at and behind such a border is found where it is, and by
 * both verifiers.
 */
class BothVerifiersFindDamageAtTheBordersOfPiecesTest {
  private static final int EFFECTS = 180; // 1,083 events
  private static final List<Integer> LINES = List.of(383, 384, 385, 768, 1_023, 1_024, 1_025);

  @TempDir static Path dir;

  private static byte[] whole;

  @BeforeAll
  static void writeOnce() throws Exception {
    Path bundle = dir.resolve("long.writ");
    LongRun.write(dir.resolve("home"), EFFECTS, bundle);
    whole = Files.readAllBytes(bundle);
  }

  private static List<String> lines(byte[] journal) {
    return new String(journal, StandardCharsets.UTF_8).lines().toList();
  }

  private static byte[] with(String entry, UnaryOperator<byte[]> change) {
    TreeMap<String, byte[]> entries = Packed.read(whole);
    entries.compute(entry, (_, content) -> change.apply(content));
    return Packed.write(entries);
  }

  /** One bit of a byte other. */
  private static UnaryOperator<byte[]> flipped(int at) {
    return content -> {
      byte[] changed = content.clone();
      changed[at] ^= 1;
      return changed;
    };
  }

  private static WritException refused(byte[] bundle) {
    try {
      BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
    } catch (WritException e) {
      return e;
    }
    throw new AssertionError("it is verified");
  }

  @Test
  void inLinesInWhatTheyNameAndInTheFile() {
    SecondOpinion second = new SecondOpinion();
    second.about("whole", whole);
    List<String> lines = lines(Packed.read(whole).get(BundleEntryNames.RUN));
    assertThat(lines.size()).isGreaterThan(LINES.getLast());
    for (int line : LINES) {
      String text = lines.get(line - 1);
      byte[] other =
          with(
              BundleEntryNames.RUN,
              journal ->
                  new String(journal, StandardCharsets.UTF_8)
                      .replace(text, text.replace("\"tenant\":\"acme\"", "\"tenant\":\"acne\""))
                      .getBytes(StandardCharsets.UTF_8));
      WritException found = refused(other);
      assertThat(found.code()).isEqualTo(BundleError.EVENT_CHAIN);
      assertThat(found.found()).startsWith(BundleEntryNames.RUN + " line " + line + " ");
      second.about("line " + line, other);

      Digest body = Event.parse(text.getBytes(StandardCharsets.UTF_8)).body();
      String blob = BundleEntryNames.blob(body);
      String named = Packed.read(whole).containsKey(blob) ? blob : BundleEntryNames.document(body);
      // Of a document the signature's last characters: its id is that of the payload alone.
      byte[] damaged =
          with(
              named,
              content -> flipped(named.equals(blob) ? 0 : content.length - 20).apply(content));
      assertThat(refused(damaged).found())
          .contains(named.equals(blob) ? named : "event acme/run-1 ");
      second.about("what line " + line + " names", damaged);
    }
    for (int at = 1 << 16; at < whole.length; at += 7 << 16) {
      for (int near : List.of(at - 1, at)) {
        second.about("byte " + near, flipped(near).apply(whole));
      }
    }
    second.compare(dir);
  }
}
