package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Commands on one data directory, in one environment. */
public record OneHome(Path home, Map<String, String> environment) {
  /** In an empty environment. */
  public OneHome(Path home) {
    this(home, Map.of());
  }

  public Run writ(String... arguments) {
    List<String> all = new ArrayList<>(List.of("--home", home.toString()));
    all.addAll(List.of(arguments));
    return Run.in(environment, all.toArray(String[]::new));
  }

  /** The same; a status other than 0 fails the test. */
  public Run done(String... arguments) {
    Run run = writ(arguments);
    assertThat(run.status())
        .as(String.join(" ", arguments) + "\n" + run.err() + run.out())
        .isZero();
    return run;
  }
}
