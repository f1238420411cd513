package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import dev.writ.cli.error.CliError;
import dev.writ.cli.rules.ErrorCatalogue;
import dev.writ.cli.rules.Project;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ExitCodesTest {

  @Test
  void eachHasItsOwnStatusThatAShellCanSee() {
    assertThat(ExitCode.values())
        .extracting(ExitCode::status)
        .doesNotHaveDuplicates()
        .allSatisfy(status -> assertThat(status).isBetween(0, 255));
  }

  @Test
  void thePageSaysWhatTheEnumSays() {
    String table =
        Arrays.stream(ExitCode.values())
            .map(e -> "| " + e.status() + " | " + e.meaning() + " |\n")
            .collect(Collectors.joining());
    assertThat(Project.read(Project.root().resolve("spec/cli.md")))
        .contains("| status | meaning |\n|---|---|\n" + table);
  }

  @Test
  void everyErrorCodeHasAnExitStatusAndOnlySurprisesAreInternal() {
    for (ErrorCatalogue.Section section : ErrorCatalogue.sections()) {
      assertThat(section.codes())
          .filteredOn(code -> code != CliError.INTERNAL)
          .allSatisfy(code ->
              assertThat(ExitCode.of(code))
                  .as(code.code() + ": name its exit status in ExitCode")
                  .isNotIn(ExitCode.INTERNAL, ExitCode.OK));
    }
    assertThat(ExitCode.of(CliError.INTERNAL)).isEqualTo(ExitCode.INTERNAL);
  }
}
