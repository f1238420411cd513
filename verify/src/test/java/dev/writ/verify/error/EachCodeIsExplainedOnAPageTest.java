package dev.writ.verify.error;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.error.ExecutorError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages of the kernel and of the audit explain the codes EXE, all of them and no others. */
class EachCodeIsExplainedOnAPageTest {
  private static final Path SPEC = Path.of(System.getProperty("writ.root", "..")).resolve("spec");

  @Test
  void the_pages_and_the_enums_name_the_same_codes() throws IOException {
    String pages =
        Files.readString(SPEC.resolve("receipt.md"))
            + Files.readString(SPEC.resolve("execution.md"))
            + Files.readString(SPEC.resolve("recovery.md"))
            + Files.readString(SPEC.resolve("retention.md"))
            + Files.readString(SPEC.resolve("audit.md"))
            + Files.readString(SPEC.resolve("apart.md"))
            + Files.readString(SPEC.resolve("cells.md"));
    List<String> codes =
        Stream.<ErrorCode>concat(Stream.of(ExecutorError.values()), Stream.of(AuditError.values()))
            .map(ErrorCode::code)
            .toList();
    assertThat(codes).allSatisfy(code -> assertThat(pages).contains("`" + code + "`"));
    assertThat(Pattern.compile("`(EXE-\\d{3})`").matcher(pages).results())
        .extracting(named -> named.group(1))
        .isSubsetOf(codes);
  }
}
