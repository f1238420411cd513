package dev.writ.cli.command.tool;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Lint;
import dev.writ.tools.author.LintFinding;
import dev.writ.tools.author.LockWriter;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolArchive;
import dev.writ.tools.author.ToolLock;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.author.ToolTests;
import dev.writ.tools.registry.PackageDirectory;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** The commands of {@code writ tool} for those who write tools; none needs a data directory. */
final class ToolAuthoring {
  private static final long TESTS_BYTES_MAX = 16L << 20;

  private ToolAuthoring() {}

  static List<CliCommand> commands() {
    return List.of(
        new New(),
        new ToolImport(),
        new Lock(),
        new Lints(),
        new Test(),
        new Package(),
        new Sign());
  }

  /** {@code writ tool new}. */
  static final class New implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("new", "Create a tool: a small project that passes its own test.")
          .argument(
              "LANGUAGE",
              Language.ALL.stream().map(Language::text).collect(Collectors.joining(", ")) + ".")
          .argument("NAME", "The name of the tool and of its new folder.");
    }

    record Made(Path folder) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object().put("folder", folder.toString()).build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String word = arguments.argument("LANGUAGE");
      Language language =
          Language.named(word)
              .orElseThrow(() ->
                  new WritException(
                      CliError.USAGE,
                      word + " is none of " + Language.ALL.stream().map(Language::text).toList()));
      Path folder = Path.of(arguments.argument("NAME"));
      Templates.make(language, folder.getFileName().toString(), folder);
      session.show(
          new Made(folder),
          (made, terminal) -> {
            String writ = Homes.name() + " tool ";
            terminal.out().println("Made " + folder + ". Try next:");
            terminal.out().println("  " + writ + "test " + folder);
            terminal.out().println("  " + writ + "lint " + folder);
            terminal.out().println("  " + writ + "package " + folder);
          });
      return ExitCode.OK;
    }
  }

  /** {@code writ tool lock}. */
  static final class Lock implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("lock", "Write tool.lock from the libraries below vendor/.")
          .argument("FOLDER", "The project's folder.")
          .options(
              "--dependency",
              "NAME@VERSION=PATH",
              "A library without metadata, and its file or folder below vendor/.");
    }

    record Locked(ToolLock lock) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object()
            .putList(
                "dependencies",
                lock.dependencies(),
                one ->
                    JsonValue.object()
                        .put("name", one.name())
                        .put("version", one.version())
                        .put("origin", one.origin())
                        .put("files", one.files().size())
                        .put("digest", one.digest())
                        .build())
            .build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Path folder = Path.of(arguments.argument("FOLDER"));
      var files =
          PackageDirectory.files(
              folder, path -> !path.startsWith(ToolProject.TESTS), ToolProject.BYTES_MAX);
      byte[] old = files.get(ToolLock.FILE);
      ToolLock before = old == null ? new ToolLock(List.of()) : ToolLock.parse(old);
      List<LockWriter.Named> named =
          arguments.options("--dependency").stream().map(LockWriter.Named::parse).toList();
      ToolLock lock = LockWriter.of(files, named, before);
      Workbench.write(folder.resolve(ToolLock.FILE), lock.toBytes());
      session.show(
          new Locked(lock),
          (locked, terminal) -> {
            for (ToolLock.Dependency one : lock.dependencies()) {
              terminal
                  .out()
                  .println(
                      one.name()
                          + " "
                          + one.version()
                          + " ("
                          + one.origin()
                          + "), "
                          + one.files().size()
                          + (one.files().size() == 1 ? " file, " : " files, ")
                          + one.digest());
            }
            if (lock.dependencies().isEmpty()) {
              terminal.out().println("Nothing lies below vendor/.");
            }
          });
      return ExitCode.OK;
    }
  }

  /** {@code writ tool lint}. */
  static final class Lints implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("lint", "Show everything that registration would refuse in a tool.")
          .argument("PATH", "A project's folder, or a package file.");
    }

    record Findings(List<LintFinding> list) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object().put("findings", Lint.toJson(list)).build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      ToolProject project = Workbench.project(Path.of(arguments.argument("PATH")));
      Findings findings;
      try (Workbench bench = new Workbench()) {
        findings = new Findings(bench.lint().check(project));
      }
      session.show(findings, Lints::print);
      return findings.list().isEmpty() ? ExitCode.OK : ExitCode.REFUSED;
    }

    private static void print(Findings findings, Terminal terminal) {
      for (LintFinding finding : findings.list()) {
        terminal
            .out()
            .println(
                terminal.paint(Style.BAD, finding.code().code())
                    + " "
                    + finding.place()
                    + ": "
                    + finding.found()
                    + ". "
                    + finding.code().remedy());
      }
      if (findings.list().isEmpty()) {
        terminal.out().println("Nothing that registration would refuse.");
      }
    }
  }

  /** {@code writ tool test}. */
  static final class Test implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "test",
              "Run a project's tests, test/*.json, in the same sandbox and limits as on the"
                  + " platform.")
          .argument("FOLDER", "The project's folder.");
    }

    record Verdicts(List<ToolTests.Verdict> list) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object().putList("tests", list, ToolTests.Verdict::toJson).build();
      }

      boolean passed() {
        return list.stream().allMatch(v -> v.found().isEmpty());
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Path folder = Path.of(arguments.argument("FOLDER"));
      ToolProject project = ToolProject.open(folder);
      var tests =
          PackageDirectory.files(
              folder,
              path -> path.startsWith(ToolProject.TESTS) && path.endsWith(".json"),
              TESTS_BYTES_MAX);
      if (tests.isEmpty()) {
        throw new WritException(
            CliError.USAGE, folder + " has no test: write one, " + folder + "/test/NAME.json");
      }
      Verdicts verdicts;
      try (Workbench bench = new Workbench()) {
        verdicts = new Verdicts(new ToolTests(project, bench.driver(project)).run(tests));
      }
      session.show(verdicts, Test::print);
      return verdicts.passed() ? ExitCode.OK : ExitCode.REFUSED;
    }

    private static void print(Verdicts verdicts, Terminal terminal) {
      for (ToolTests.Verdict verdict : verdicts.list()) {
        boolean passed = verdict.found().isEmpty();
        terminal
            .out()
            .println(
                terminal.paint(passed ? Style.GOOD : Style.BAD, passed ? "passed" : "FAILED")
                    + " "
                    + verdict.test()
                    + ", "
                    + verdict.wallMs()
                    + " ms"
                    + verdict.found().map(found -> ": " + found).orElse(""));
      }
    }
  }

  /** A package file and what is in it. */
  private record Packed(Path file, ToolArchive archive) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("file", file.toString())
          .put("package", archive.project().manifest().packageDigest())
          .put("signed", archive.signature().isPresent())
          .build();
    }

    void print(Terminal terminal) {
      terminal.out().println(file + "  " + archive.project().manifest().packageDigest());
    }
  }

  /** {@code writ tool package}. */
  static final class Package implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "package", "Make one file of a project: the same project gives the same bytes.")
          .argument("FOLDER", "The project's folder.")
          .option("--out", "FILE", "The file to write (default: NAME-VERSION.tool).");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      ToolProject project = ToolProject.open(Path.of(arguments.argument("FOLDER")));
      String name = project.source().tool() + "-" + project.source().version() + ".tool";
      try (Workbench bench = new Workbench()) {
        bench.lint().require(project);
      }
      Packed packed =
          new Packed(Path.of(arguments.option("--out").orElse(name)), ToolArchive.of(project));
      Workbench.write(packed.file(), packed.archive().toBytes());
      session.show(packed, Packed::print);
      return ExitCode.OK;
    }
  }

  /** {@code writ tool sign}. */
  static final class Sign implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("sign", "Sign a package file, as a publisher; the file is replaced.")
          .argument("FILE", "The package file.")
          .option("--as", "KEY", "A key of the home whose role is publisher (default: publisher).");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Path file = Path.of(arguments.argument("FILE"));
      ToolArchive signed =
          Workbench.archive(file)
              .signed(Homes.home(session).key(arguments.option("--as").orElse("publisher")));
      Workbench.write(file, signed.toBytes());
      session.show(new Packed(file, signed), Packed::print);
      return ExitCode.OK;
    }
  }
}
