package dev.writ.cli.command.tool;

import dev.writ.cli.doctor.HostFinding;
import dev.writ.cli.doctor.HostFinding.State;
import dev.writ.sandbox.DebianPackages;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.HostCommands;
import dev.writ.tools.browser.BrowserDriver;
import dev.writ.tools.process.HostPrograms;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The programs on this host that tools need. */
public final class Toolchains {
  private Toolchains() {}

  /**
   * A program that a tool needs.
   *
   * @param version the option that makes it say its version
   * @param install the Debian package that has it
   */
  private record Program(String name, String version, String install, String tool) {}

  private static final List<Program> PROGRAMS =
      List.of(
          new Program("git", "--version", "git", "git_cli"),
          new Program("python3", "--version", "python3", "code_interpreter"),
          new Program("node", "--version", "nodejs", "code_interpreter"),
          new Program("chromium", "--version", "chromium", "web_browser"));

  /** What this machine has of them. */
  public static List<HostFinding> look() {
    List<HostFinding> findings = new ArrayList<>();
    for (Program program : PROGRAMS) {
      findings.add(look(program));
    }
    findings.add(
        Engines.fixesClocks()
            ? new HostFinding(State.GOOD, "faketime", "there, for code_reproducible")
            : new HostFinding(State.NOTE, "faketime", "not found; code_reproducible needs it")
                .helpedBy(DebianPackages.install(List.of("faketime"))));
    return findings;
  }

  /** The browser itself where it is: what Debian has as `chromium` is a script that needs more. */
  private static Optional<Path> found(String name) {
    return Optional.of(Path.of(BrowserDriver.CHROMIUM))
        .filter(browser -> name.equals("chromium") && Files.isExecutable(browser))
        .or(() -> HostPrograms.find(name));
  }

  private static HostFinding look(Program program) {
    Optional<Path> path = found(program.name());
    if (path.isEmpty()) {
      return new HostFinding(
              State.NOTE, program.name(), "not found; " + program.tool() + " needs it")
          .helpedBy(DebianPackages.install(List.of(program.install())));
    }
    String says = HostCommands.firstLine(path.get().toString(), program.version());
    return says.isEmpty()
        ? new HostFinding(State.WARNING, program.name(), path.get() + " does not say its version")
        : new HostFinding(State.GOOD, program.name(), says + " in " + path.get());
  }
}
