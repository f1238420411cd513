package dev.writ.cli.command.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The receipt has {@code EXE-702}, which does not name the store (spec/apart.md). */
class AnExecutorSaysWhyItStoresNothingTest {
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final NotStored observer =
      new NotStored(new PrintStream(printed, true, StandardCharsets.UTF_8));

  @Test
  void byTheCodeOfTheStore() {
    observer.notStored(new WritException(LedgerError.CONTENTS_FOLDER, "/mnt/contents"));
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .startsWith("not stored: LED-085 ")
        .contains("/mnt/contents");
  }

  @Test
  void withoutTheWordsOfWhatNobodyForesaw() {
    observer.notStored(new IllegalStateException("a payload"));
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("IllegalStateException")
        .doesNotContain("payload");
  }
}
