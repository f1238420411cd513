package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.embed.home.Home;
import dev.writ.executor.ClockCheck;
import dev.writ.executor.SystemState;
import dev.writ.ledger.Ledger;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.engine.Engines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What was found about this machine.
 *
 * @param engines the engines that can confine processes, each with its guarantees
 * @param waived guarantees that the policy in force waives on a host that lacks them
 */
record Health(List<Finding> findings, List<EngineReport> engines, List<Guarantee> waived)
    implements Report {
  private static final long FREE_BYTES_MIN = 100L << 20;
  private static final long FREE_BYTES_GOOD = 1L << 30;

  /** The severity of a finding. */
  enum State {
    GOOD("ok"),
    NOTE("note"),
    WARNING("warn"),
    BAD("bad");

    private final String sign;

    State(String sign) {
      this.sign = sign;
    }

    String sign() {
      return sign;
    }
  }

  /**
   * The result of one check.
   *
   * @param what a short stable name, for example {@code rocksdb}
   * @param found what was found, and what to do if it is not good
   */
  record Finding(State state, String what, String found) {
    JsonValue toJson() {
      return JsonValue.object()
          .put("found", found)
          .put("state", state.sign())
          .put("what", what)
          .build();
    }
  }

  static Health examine(Session session) {
    Path home = session.home();
    List<Finding> findings = new ArrayList<>();
    findings.add(java());
    findings.add(start());
    findings.add(machine());
    findings.add(rocksdb());
    findings.add(corretto());
    findings.add(disk(home));
    findings.add(home(home));
    clock(session).ifPresent(findings::add);
    contents(home).ifPresent(findings::add);
    keys(session).ifPresent(findings::add);
    List<EngineReport> engines = Engines.detect(session.environment());
    List<Guarantee> waived = waived(session, findings);
    findings.addAll(ConfinementFindings.findings(engines, waived));
    findings.addAll(Toolchains.look());
    return new Health(List.copyOf(findings), List.copyOf(engines), waived);
  }

  /** The guarantees that policy waives; none without a home that has a ledger. */
  private static List<Guarantee> waived(Session session, List<Finding> findings) {
    if (!Files.isDirectory(session.home().resolve("ledger"))) {
      return List.of();
    }
    try {
      return Homes.read(session, view -> SystemState.read(view).policyInForce().waived()).stream()
          .map(Guarantee::waivable)
          .toList();
    } catch (WritException e) {
      findings.add(
          new Finding(State.WARNING, "policy", "that in force cannot be read: " + e.getMessage()));
      return List.of();
    }
  }

  /** Whose private keys lie in the home. */
  private static Optional<Finding> keys(Session session) {
    Home home = Homes.place(session);
    if (!Files.isDirectory(home.ledger()) || !home.exists()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          PeoplesKeys.finding(home, Homes.read(session, SystemState::read).trust())
              .map(found -> new Finding(State.WARNING, "keys", found))
              .orElse(new Finding(State.GOOD, "keys", "only what the server signs with")));
    } catch (WritException e) {
      return Optional.of(
          new Finding(State.WARNING, "keys", "whose they are cannot be read: " + e.getMessage()));
    }
  }

  /** Against the ledger's time, where there is a ledger. */
  private static Optional<Finding> clock(Session session) {
    if (!Files.isDirectory(session.home().resolve("ledger"))) {
      return Optional.empty();
    }
    try {
      ClockCheck check = ClockCommand.check(session);
      boolean fits = check.fit() == ClockCheck.Fit.FITS;
      String found = ClockCommand.found(check);
      return Optional.of(
          fits
              ? new Finding(State.GOOD, "clock", found)
              : new Finding(State.BAD, "clock", found + ". " + ClockCommand.remedy(check)));
    } catch (WritException e) {
      return Optional.of(
          new Finding(State.WARNING, "clock", "the ledger cannot be read: " + e.getMessage()));
    }
  }

  /** Of large contents in a store elsewhere; it is tried out. */
  private static Optional<Finding> contents(Path dir) {
    Home home = new Home(dir, () -> null);
    if (!Files.isDirectory(home.ledger())) {
      return Optional.empty();
    }
    try {
      return Ledger.probeContents(home.ledger(), home.origin())
          .map(location ->
              new Finding(State.GOOD, "contents", location + " answers, and keeps conditions"));
    } catch (WritException e) {
      return Optional.of(new Finding(State.BAD, "contents", e.getMessage()));
    }
  }

  boolean isGood() {
    return findings.stream().noneMatch(f -> f.state() == State.BAD);
  }

  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .putList("engines", engines, EngineReport::toJson)
        .putList("findings", findings, Finding::toJson)
        .put("good", isGood())
        .putList("waived", waived, g -> JsonValue.of(g.text()))
        .build();
  }

  private static Finding java() {
    String found = Runtime.version() + " in " + System.getProperty("java.home");
    return Runtime.version().feature() >= 25
        ? new Finding(State.GOOD, "java", found)
        : new Finding(State.BAD, "java", found + "; install a JDK 25 or newer");
  }

  private static Finding start() {
    boolean cached = "aot".equals(System.getProperty("writ.start"));
    return cached
        ? new Finding(State.GOOD, "start", "from the AOT cache")
        : new Finding(State.NOTE, "start", "without the AOT cache, so slower; ./writ makes it");
  }

  private static Finding machine() {
    Runtime runtime = Runtime.getRuntime();
    return new Finding(
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

  private static Finding rocksdb() {
    try {
      Ledger.loadLibrary();
      return new Finding(State.GOOD, "rocksdb", "its native library loads");
    } catch (WritException | LinkageError e) {
      return new Finding(
          State.BAD, "rocksdb", "its native library does not load: " + e.getMessage());
    }
  }

  private static Finding corretto() {
    try {
      Class.forName(
          "com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider",
          false,
          Health.class.getClassLoader());
      return new Finding(State.GOOD, "corretto", "there, for faster signatures in long runs");
    } catch (ReflectiveOperationException | LinkageError e) {
      return new Finding(
          State.NOTE, "corretto", "not there; signatures are Bouncy Castle's alone, and slower");
    }
  }

  private static Finding disk(Path home) {
    Path at = home.toAbsolutePath();
    while (at.getParent() != null && !Files.exists(at)) {
      at = at.getParent();
    }
    try {
      long free = Files.getFileStore(at).getUsableSpace();
      String found = size(free) + " free in " + at;
      if (free < FREE_BYTES_MIN) {
        return new Finding(State.BAD, "disk", found + "; make room, or name another --home");
      }
      return new Finding(free < FREE_BYTES_GOOD ? State.WARNING : State.GOOD, "disk", found);
    } catch (IOException e) {
      return new Finding(State.BAD, "disk", at + ": " + e.getMessage());
    }
  }

  private static Finding home(Path home) {
    Path at = home.toAbsolutePath();
    if (Files.isDirectory(at)) {
      return Files.isWritable(at) && Files.isReadable(at)
          ? new Finding(State.GOOD, "home", at + " is there")
          : new Finding(State.BAD, "home", at + " is not yours to read and write");
    }
    if (Files.exists(at)) {
      return new Finding(State.BAD, "home", at + " is no folder; name another --home");
    }
    Path parent = at.getParent();
    while (parent.getParent() != null && !Files.exists(parent)) {
      parent = parent.getParent();
    }
    return Files.isDirectory(parent) && Files.isWritable(parent)
        ? new Finding(State.NOTE, "home", at + " is not there yet; it can be made")
        : new Finding(
            State.BAD, "home", at + " cannot be made: " + parent + " is no folder that is yours");
  }

  private static String size(long bytes) {
    return bytes >= 1L << 30
        ? String.format(Locale.ROOT, "%.1f GiB", bytes / (double) (1L << 30))
        : (bytes >> 20) + " MiB";
  }
}
