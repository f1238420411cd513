package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.CliCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** What a release installs of the command line's help: pages of man(7), and completion for fish. */
class TheManualHasEveryCommandTest {
  @TempDir Path folder;

  @BeforeEach
  void written() {
    assertThat(Run.of("man", folder.resolve("man1").toString())).isEqualTo(new Run(0, "", ""));
  }

  private String page(String name) throws IOException {
    return Files.readString(folder.resolve("man1").resolve(name));
  }

  private static List<CommandSpec> shown() {
    return Commands.ALL.stream()
        .map(command -> command.usage().spec(command))
        .filter(spec -> !spec.usageMessage().hidden())
        .toList();
  }

  @Test
  void each_has_a_page_and_the_first_page_names_it() throws IOException {
    List<String> expected = new ArrayList<>(List.of("writ.1"));
    for (CommandSpec command : shown()) {
      expected.add("writ-" + command.name() + ".1");
      assertThat(page("writ.1"))
          .contains(".BR writ\\-" + command.name().replace("-", "\\-") + " (1)\n");
    }
    try (Stream<Path> pages = Files.list(folder.resolve("man1"))) {
      assertThat(pages.map(page -> page.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(expected);
    }
    assertThat(expected).hasSizeGreaterThan(40);
  }

  @Test
  void with_all_options_also_of_the_commands_below_it() throws IOException {
    for (CliCommand command : Commands.ALL) {
      if (!command.usage().spec(command).usageMessage().hidden()) {
        String page = page("writ-" + command.usage().name() + ".1");
        for (OptionSpec option : options(command)) {
          assertThat(page).contains(option.longestName().replace("-", "\\-"));
        }
      }
    }
  }

  private static List<OptionSpec> options(CliCommand command) {
    List<OptionSpec> options = new ArrayList<>(command.usage().spec(command).options());
    command.subcommands().forEach(below -> options.addAll(options(below)));
    return options;
  }

  /** man(7) takes a line that begins with a dot for a request, and a percent sign as it is. */
  @Test
  void no_text_is_taken_for_a_request() throws IOException {
    try (Stream<Path> pages = Files.list(folder.resolve("man1"))) {
      for (Path page : pages.toList()) {
        assertThat(Files.readString(page)).doesNotContain("%%");
        assertThat(Files.readString(page).lines().filter(line -> line.startsWith(".")))
            .allMatch(line -> line.matches("\\.(TH|SH|SS|TP|PP|br|B|BR)( .*)?"));
      }
    }
  }

  @Test
  void fish_completes_each_command_and_its_options() {
    String script = Run.of("completion", "fish").out();
    for (CommandSpec command : shown()) {
      assertThat(script).contains(" -f -a " + command.name() + " -d '");
    }
    assertThat(script)
        .contains("-n '__fish_seen_subcommand_from run' -l param -r -d '")
        .contains("complete -c writ -l home -r -d '")
        .doesNotContain(" train ", "%%");
    assertThat(script.lines()).allMatch(line -> line.startsWith("complete -c writ "));
  }
}
