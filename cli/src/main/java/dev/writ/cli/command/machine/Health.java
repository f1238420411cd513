package dev.writ.cli.command.machine;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.key.PeoplesKeys;
import dev.writ.cli.command.tool.Toolchains;
import dev.writ.cli.doctor.HomeFiles;
import dev.writ.cli.doctor.HostFinding;
import dev.writ.cli.doctor.HostFinding.State;
import dev.writ.cli.doctor.Mend;
import dev.writ.cli.doctor.ShellCompletion;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeArchive;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.executor.ClockCheck;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.ledger.archive.ArchiveProtection;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.engine.Engines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine;

/**
 * What was found about this machine.
 *
 * @param engines the engines that can confine processes, each with its guarantees
 * @param waived guarantees that the policy in force waives on a host that lacks them
 */
record Health(List<HostFinding> findings, List<EngineReport> engines, List<Guarantee> waived)
    implements Report {
  private static final long FREE_BYTES_MIN = 100L << 20;
  private static final long FREE_BYTES_GOOD = 1L << 30;

  /**
   * Looks at everything.
   *
   * @param commands the whole command line
   */
  static Health examine(Session session, Function<Session, CommandLine> commands) {
    Path home = session.home();
    List<HostFinding> findings = new ArrayList<>();
    findings.add(java());
    findings.add(start());
    findings.add(machine());
    findings.add(rocksdb());
    findings.add(corretto());
    findings.add(disk(home));
    findings.add(home(session));
    boolean isWhole = settings(Homes.place(session)).state() != State.BAD;
    List<Guarantee> waived = isWhole ? inHome(session, findings) : List.of();
    completion(session, commands).ifPresent(findings::add);
    List<EngineReport> engines = Engines.detect(session.environment());
    findings.addAll(ConfinementFindings.findings(engines, waived));
    SandboxPlace.hindrance(session.environment())
        .ifPresent(
            why -> findings.add(new HostFinding(State.WARNING, "sandbox", why.getMessage())));
    findings.addAll(Toolchains.look());
    return new Health(List.copyOf(findings), List.copyOf(engines), waived);
  }

  /** Looks at what the home has, where its settings can be read, and says what policy waives. */
  private static List<Guarantee> inHome(Session session, List<HostFinding> findings) {
    Path home = session.home();
    List<HostFinding> server = StartFindings.look(session);
    findings.addAll(server);
    boolean isReadable =
        Files.isDirectory(home.resolve("ledger")) && StartFindings.isLedgerReadable(server);
    if (isReadable) {
      findings.add(clock(session));
    }
    contents(home).ifPresent(findings::add);
    archive(home).ifPresent(findings::add);
    if (isReadable) {
      keys(session).ifPresent(findings::add);
    }
    findings.addAll(HomeFiles.look(Homes.place(session), Homes.clock().instant()));
    return isReadable ? waived(session, findings) : List.of();
  }

  private static List<Guarantee> waived(Session session, List<HostFinding> findings) {
    try {
      return Homes.inForce(session).policyInForce().waived().stream()
          .map(Guarantee::waivable)
          .toList();
    } catch (WritException e) {
      findings.add(
          new HostFinding(
              State.WARNING, "policy", "that in force cannot be read: " + e.getMessage()));
      return List.of();
    }
  }

  /** Whose private keys lie in the home. */
  private static Optional<HostFinding> keys(Session session) {
    Home home = Homes.place(session);
    if (!home.exists()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          PeoplesKeys.finding(home, Homes.inForce(session).trust(), session.terminal())
              .map(found ->
                  new HostFinding(State.WARNING, "keys", found)
                      .helpedBy(PeoplesKeys.move(session.terminal())))
              .orElse(new HostFinding(State.GOOD, "keys", "only what the server signs with")));
    } catch (WritException e) {
      return Optional.of(
          new HostFinding(
              State.WARNING, "keys", "whose they are cannot be read: " + e.getMessage()));
    }
  }

  /** Against the ledger's time. */
  private static HostFinding clock(Session session) {
    try {
      ClockCheck check = ClockCommand.check(session);
      boolean fits = check.fit() == ClockCheck.Fit.FITS;
      String found = ClockCommand.found(check);
      return fits
          ? new HostFinding(State.GOOD, "clock", found)
          : new HostFinding(
                  State.BAD, "clock", found + ". " + ClockCommand.remedy(session.terminal()))
              .helpedBy(ClockCommand.correction(session.terminal()));
    } catch (WritException e) {
      return new HostFinding(
          State.WARNING, "clock", "the ledger cannot be read: " + e.getMessage());
    }
  }

  /** Of large contents in a store elsewhere; it is tried out. */
  private static Optional<HostFinding> contents(Path dir) {
    Home home = new Home(dir, () -> null);
    if (!Files.isDirectory(home.ledger())) {
      return Optional.empty();
    }
    try {
      return LedgerPlaces.probeContents(home.ledger(), home.origin())
          .map(location ->
              new HostFinding(State.GOOD, "contents", location + " answers, and keeps conditions"));
    } catch (WritException e) {
      return Optional.of(new HostFinding(State.BAD, "contents", e.getMessage()));
    }
  }

  /** Of the archive of closed runs, where there is one; its protection is tried out. */
  private static Optional<HostFinding> archive(Path dir) {
    HomeArchive archive = new HomeArchive(new Home(dir, () -> null));
    try {
      if (archive.address().isEmpty()) {
        return Optional.empty();
      }
      ArchiveProtection protection = archive.place().protection(Homes.clock().instant());
      return Optional.of(
          new HostFinding(
              protection.isLocked() ? State.GOOD : State.NOTE, "archive", protection.found()));
    } catch (WritException e) {
      return Optional.of(new HostFinding(State.BAD, "archive", e.getMessage()));
    }
  }

  /** Of the caller's shell, where nothing completes commands in it. */
  private static Optional<HostFinding> completion(
      Session session, Function<Session, CommandLine> commands) {
    return ShellCompletion.of(session.environment())
        .filter(shell -> Homes.name().equals("writ") && !shell.isThere())
        .map(shell ->
            new HostFinding(
                    State.NOTE, "completion", shell.name() + " does not complete Writ's commands")
                .mendedBy(
                    Mend.file(
                        shell.file(),
                        CompletionCommand.script(shell.name(), commands.apply(session))
                            .getBytes(StandardCharsets.UTF_8))));
  }

  boolean isGood() {
    return findings.stream().noneMatch(f -> f.state() == State.BAD);
  }

  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .putList("engines", engines, EngineReport::toJson)
        .putList("findings", findings, HostFinding::toJson)
        .put("good", isGood())
        .putList("waived", waived, g -> JsonValue.of(g.text()))
        .build();
  }

  private static HostFinding java() {
    String found = Runtime.version() + " in " + System.getProperty("java.home");
    return Runtime.version().feature() >= 25
        ? new HostFinding(State.GOOD, "java", found)
        : new HostFinding(State.BAD, "java", found + "; install a JDK 25 or newer");
  }

  private static HostFinding start() {
    String slower = "without the AOT cache, so slower";
    return switch (System.getProperty("writ.start", "")) {
      case "aot" -> new HostFinding(State.GOOD, "start", "from the AOT cache");
      case "plain" -> // of a release
          new HostFinding(State.NOTE, "start", slower).helpedBy("writ-prepare");
      default ->
          new HostFinding(State.NOTE, "start", slower); // of the tree, which makes one, or an image
    };
  }

  private static HostFinding machine() {
    Runtime runtime = Runtime.getRuntime();
    return new HostFinding(
        State.GOOD,
        "machine",
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.arch")
            + ", "
            + runtime.availableProcessors()
            + " processors, at most "
            + size(runtime.maxMemory())
            + " of memory for Writ");
  }

  private static HostFinding rocksdb() {
    try {
      Ledger.loadLibrary();
      return new HostFinding(State.GOOD, "rocksdb", "its native library loads");
    } catch (WritException | LinkageError e) {
      return new HostFinding(
          State.BAD, "rocksdb", "its native library does not load: " + e.getMessage());
    }
  }

  private static HostFinding corretto() {
    try {
      Class.forName(
          "com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider",
          false,
          Health.class.getClassLoader());
      return new HostFinding(State.GOOD, "corretto", "there, for faster signatures in long runs");
    } catch (ReflectiveOperationException | LinkageError e) {
      return new HostFinding(
          State.NOTE, "corretto", "not there; signatures are Bouncy Castle's alone, and slower");
    }
  }

  private static HostFinding disk(Path home) {
    Path at = home.toAbsolutePath();
    while (at.getParent() != null && !Files.exists(at)) {
      at = at.getParent();
    }
    try {
      long free = Files.getFileStore(at).getUsableSpace();
      String found = size(free) + " free in " + at;
      if (free < FREE_BYTES_MIN) {
        return new HostFinding(State.BAD, "disk", found + "; make room, or name another --home");
      }
      return new HostFinding(free < FREE_BYTES_GOOD ? State.WARNING : State.GOOD, "disk", found);
    } catch (IOException e) {
      return new HostFinding(State.BAD, "disk", at + ": " + e.getMessage());
    }
  }

  private static HostFinding home(Session session) {
    Path at = session.home().toAbsolutePath();
    if (Files.isDirectory(at)) {
      return Files.isWritable(at) && Files.isReadable(at)
          ? settings(Homes.place(session))
          : new HostFinding(State.BAD, "home", at + " is not yours to read and write");
    }
    if (Files.exists(at)) {
      return new HostFinding(State.BAD, "home", at + " is no folder; name another --home");
    }
    Path parent = at.getParent();
    while (parent.getParent() != null && !Files.exists(parent)) {
      parent = parent.getParent();
    }
    return Files.isDirectory(parent) && Files.isWritable(parent)
        ? new HostFinding(State.NOTE, "home", at + " is not there yet; it can be made")
        : new HostFinding(
            State.BAD, "home", at + " cannot be made: " + parent + " is no folder that is yours");
  }

  /** Where they cannot be read, that alone is said: all else in the home goes by them. */
  private static HostFinding settings(Home home) {
    try {
      if (home.exists() || Files.isDirectory(home.ledger())) {
        home.requireExisting();
      }
      return new HostFinding(State.GOOD, "home", home.dir() + " is there");
    } catch (WritException e) {
      return new HostFinding(State.BAD, "home", e.getMessage());
    }
  }

  private static String size(long bytes) {
    return bytes >= 1L << 30
        ? String.format(Locale.ROOT, "%.1f GiB", bytes / (double) (1L << 30))
        : (bytes >> 20) + " MiB";
  }
}
