package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code runtime} means: which versions it admits, and which a host may have. */
class RuntimesAreHeldAgainstTheHostTest {

  @ParameterizedTest
  @CsvSource({
    "3, 3.13.5, true",
    "3, 30.1.0, false",
    "3, 2.7.18, false",
    "3.1, 3.13.5, false",
    "3.13, 3.13.5, true",
    "3.13.5, 3.13.5, true",
    "3.13.5, 3.13.50, false",
    "3.13, 3.13.0rc1, true",
    "18, 18.20.4, true",
    "18, 20.20.2, false",
    "18+, 18.0.0, true",
    "18+, 20.20.2, true",
    "18+, 17.9.1, false",
    "3.9+, 3.11.2, true",
    "3.9+, 3.8.20, false",
    "3.9+, 4.0.0, true",
    "25, 25, true",
    "25.0, 25, true",
    "25.0.1, 25, false",
    "5, 5.36.0, true",
    "wasi_snapshot_preview1, wasi_snapshot_preview1, true",
    "wasi_snapshot_preview1, 1.0, false",
  })
  void aRangeAdmitsWhatItSays(String range, String version, boolean admits) {
    assertThat(RuntimeRange.of(range).admits(version)).isEqualTo(admits);
  }

  @Test
  void aHostsRuntimeIsOneOfTheMatrixAndOfTheRange() {
    RuntimeRange any = RuntimeRange.of("3");
    assertThatCode(() -> Language.PYTHON.requireRuntime(any, "3.11.2")).doesNotThrowAnyException();
    assertThatThrownBy(() -> Language.PYTHON.requireRuntime(any, "3.8.20"))
        .hasMessageContaining("TOL-213")
        .hasMessageContaining("3.8.20")
        .hasMessageContaining("supports [3.9");
    assertThatThrownBy(() -> Language.NODE.requireRuntime(RuntimeRange.of("18"), "20.20.2"))
        .hasMessageContaining("TOL-213")
        .hasMessageContaining("20.20.2, the tool is written for 18");
  }

  @Test
  void everyEntryOfTheMatrixSupportsItself() {
    for (Language language : Language.ALL) {
      assertThat(language.runtimes()).isNotEmpty();
      for (String entry : language.runtimes()) {
        assertThat(RuntimeRange.of(entry).isWellFormed()).as(entry).isTrue();
        language.requireSupported(RuntimeRange.of(entry));
        language.requireRuntime(RuntimeRange.of(entry), entry);
      }
    }
  }

  @Test
  void theSpecHasTheSameMatrix() throws IOException {
    String spec = Files.readString(Path.of("../spec/tool-package.md"));
    for (Language language : Language.ALL) {
      assertThat(spec)
          .containsPattern(
              "\\| "
                  + language
                  + " \\|[^|\n]*\\| "
                  + Pattern.quote(String.join(", ", language.runtimes()))
                  + " \\|");
    }
  }
}
