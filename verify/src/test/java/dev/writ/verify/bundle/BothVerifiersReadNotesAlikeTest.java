package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bundle's checkpoint with a further line under some name, as a witness adds one: both
 * verifiers have one rule for what a name may hold (C2SP signed-note).
 */
class BothVerifiersReadNotesAlikeTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static byte[] bundle;

  @BeforeAll
  static void take(@TempDir Path dir) {
    bundle = Sample.small(dir.resolve("home"));
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private static String found(String name) {
    byte[] line = ("\u2014 " + name + " AAAAAAAA\n").getBytes(StandardCharsets.UTF_8);
    byte[] more =
        Sample.forge(
            bundle,
            entries -> {
              byte[] note = entries.get(BundleEntryNames.CHECKPOINT);
              byte[] longer = Arrays.copyOf(note, note.length + line.length);
              System.arraycopy(line, 0, longer, note.length, line.length);
              entries.put(BundleEntryNames.CHECKPOINT, longer);
              return entries;
            });
    try {
      OPINION.verify(more, BundleVerifier.Options.UNPINNED);
      return "nothing";
    } catch (WritException e) {
      return e.code().code();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"w", "w\ufeffw", "w\u007f", "w\u200b", "w\u180e", "\ud83d\ude00", "w\u0086"})
  void whatIsNoSpaceMayStandInAName(String name) {
    assertThat(found(name)).isEqualTo("nothing");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "w+", "w\u0085", "w\u00a0", "w\u1680", "w\u2000", "w\u200a", "w\u2028", "w\u2029",
        "w\u202f", "w\u205f", "w\u3000", "w\t", "w\r", "w\u001c", "w\u0001"
      })
  void whatIsOneMayNot(String name) {
    assertThat(found(name)).isEqualTo("LED-050");
  }
}
