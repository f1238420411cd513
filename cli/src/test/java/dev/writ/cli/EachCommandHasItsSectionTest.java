package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.CliCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** spec/cli.md has a section for each command, with the arguments and options that it has. */
class EachCommandHasItsSectionTest {
  private static final Path PAGE =
      Path.of(System.getProperty("writ.root", "..")).resolve("spec/cli.md");

  @Test
  void with_its_arguments_and_options() throws IOException {
    String page = Files.readString(PAGE);
    List<String> sections = new ArrayList<>();
    for (CliCommand command : Commands.ALL) {
      CommandSpec spec = command.usage().spec(new Object());
      if (!spec.usageMessage().hidden()) {
        String lines = lines("writ ", command).stream().collect(Collectors.joining("\n"));
        sections.add("## `writ " + spec.name() + "`\n\n```text usage\n" + lines + "\n```\n");
      }
    }
    assertThat(sections)
        .hasSizeGreaterThan(30)
        .allSatisfy(section -> assertThat(page).contains(section));
    assertThat(page.lines().filter("```text usage"::equals))
        .as("and none else")
        .hasSameSizeAs(sections);
  }

  /** Of a group those of its commands. */
  private static List<String> lines(String before, CliCommand command) {
    CommandSpec spec = command.usage().spec(new Object());
    List<String> lines = new ArrayList<>();
    if (command.runsByItself()) {
      String args = spec.args().stream().map(arg -> " " + shown(arg)).collect(Collectors.joining());
      lines.add(before + spec.name() + args);
    }
    command.subcommands().forEach(each -> lines.addAll(lines(before + spec.name() + " ", each)));
    return lines;
  }

  private static String shown(ArgSpec arg) {
    String more = arg.isMultiValue() ? "…" : "";
    if (arg instanceof OptionSpec option) {
      String value = option.arity().max() == 0 ? "" : " " + option.paramLabel();
      String whole = option.longestName() + value;
      return option.required() ? whole : "[" + whole + "]" + more;
    }
    return arg.required() ? arg.paramLabel() : "[" + arg.paramLabel() + "]" + more;
  }
}
