package dev.writ.cli.base;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.home.HomeWriter;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.KeyLookup;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.SystemState;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.sandbox.host.ShellScript;
import dev.writ.tools.process.ProcessHost;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/** How commands get at the data directory; the one place where the command line reads the clock. */
public final class Homes {
  /** From this number on, loading the Corretto provider, which takes 0.3 s, is worth it. */
  private static final long SIGNATURES_WORTH_LOADING = 2000;

  private Homes() {}

  /** How the user called this program. */
  public static String program() {
    return System.getProperty("writ.name", "writ");
  }

  /** The same as a shell takes it, for suggestions of commands to run next. */
  public static String name() {
    return ShellScript.quoted(program());
  }

  /** The same for a command on the data directory that this one was told to work on. */
  public static String name(Terminal terminal) {
    return name()
        + terminal
            .namedHome()
            .map(home -> " --home " + ShellScript.quoted(home.toAbsolutePath().toString()))
            .orElse("");
  }

  /** The command that puts a policy's file in force, as a shell takes it in any folder. */
  public static String activation(Terminal terminal, Path policy) {
    return name(terminal) + " policy activate " + ShellScript.quoted(policy.toString());
  }

  public static InstantSource clock() {
    return InstantSource.system();
  }

  /** The passphrase of encrypted key files, from WRIT_PASSPHRASE; null where that is not set. */
  public static char[] passphrase(Session session) {
    String value = session.environment().getOrDefault("WRIT_PASSPHRASE", "");
    return value.isEmpty() ? null : value.toCharArray();
  }

  public static Home home(Session session) {
    Home home = place(session);
    home.requireExisting();
    return home.inCell(cell(session, home));
  }

  /**
   * The log that a command is about: the one that it names; else the system cell for what is in
   * force, and that of the tenant that it names, or of the home's, for all else.
   *
   * @throws WritException {@code CLI-028}
   */
  private static int cell(Session session, Home home) {
    int cells = home.cells();
    if (session.cell().isPresent()) {
      int named = session.cell().get();
      if (named >= cells) {
        throw new WritException(EmbedError.NO_CELL, named + ": it has " + cells);
      }
      return named;
    }
    return session.isOfSystem()
        ? CellPlacement.SYSTEM
        : OpenHome.cellOf(home, session.tenant().orElseGet(home::tenant));
  }

  /** The data directory, whether there is one or not. */
  public static Home place(Session session) {
    return new Home(
        session.home(), session.passphrases(), Map.of(), KeyLookup.of(session.environment()));
  }

  /**
   * Changes the home by the one rule for that ({@link HomeWriter}): in this process, or by the
   * server that has it open.
   *
   * @param here works with the home open in this process
   * @param there has the server do it
   */
  public static <T> T write(
      Session session, Function<OpenHome, T> here, Function<HomeServer, T> there) {
    Home home = home(session);
    return HomeWriter.work(
        home,
        () -> Opening.of(clock(), processes(session, home)),
        HomeWriter.PATIENCE,
        here,
        there);
  }

  /** Runs work in a home that nobody else has open; it is closed whatever happens. */
  public static <T> T work(Session session, Function<OpenHome, T> work) {
    Home home = home(session);
    try (OpenHome open = OpenHome.open(home, Opening.of(clock(), processes(session, home)))) {
      return work.apply(open);
    }
  }

  /** The host on which the processes of a home's tools run. */
  public static ProcessHost processes(Session session, Home home) {
    return SandboxPlace.host(home, session.environment());
  }

  /** Reads from the home, also while a server has it open. */
  public static <T> T read(Session session, Function<LedgerView, T> read) {
    try (LedgerView view = OpenHome.read(home(session))) {
      return read.apply(view);
    }
  }

  /**
   * The logs that may have one thing: that of {@link #home}, and where the command names no cell,
   * those in which the tenant was before its moves, the latest first (spec/cells.md, "Moving").
   */
  public static List<Home> homes(Session session) {
    List<Home> all = new ArrayList<>(List.of(home(session)));
    all.addAll(formerHomes(session));
    return all;
  }

  /**
   * Where the tenant was before; nowhere, where the command names a cell or asks what is in force.
   */
  public static List<Home> formerHomes(Session session) {
    Home home = place(session);
    boolean isNamed = session.cell().isPresent() || session.isOfSystem();
    return isNamed
        ? List.of()
        : OpenHome.formerCells(home, session.tenant().orElseGet(home::tenant)).stream()
            .map(home::inCell)
            .toList();
  }

  /**
   * Reads one thing from the first of {@link #homes} that has it.
   *
   * @throws WritException that of the first log, where none has it
   */
  public static <T> T readOne(Session session, BiFunction<Home, LedgerView, T> read) {
    Home home = home(session);
    try (LedgerView view = OpenHome.read(home)) {
      return read.apply(home, view);
    } catch (WritException e) {
      if (e.code() != EmbedError.NOT_FOUND) {
        throw e;
      }
      return inFormer(session, read).orElseThrow(() -> e);
    }
  }

  private static <T> Optional<T> inFormer(Session session, BiFunction<Home, LedgerView, T> read) {
    for (Home former : formerHomes(session)) {
      try (LedgerView view = OpenHome.read(former)) {
        return Optional.of(read.apply(former, view));
      } catch (WritException e) {
        if (e.code() != EmbedError.NOT_FOUND) {
          throw e;
        }
      }
    }
    return Optional.empty();
  }

  /** The first of {@link #homes} that has the run; that of {@link #home} where none has. */
  public static Home homeOf(Session session, RunId run) {
    List<Home> all = homes(session);
    for (Home home : all.size() == 1 ? List.<Home>of() : all) {
      try (LedgerView view = OpenHome.read(home)) {
        if (view.head(run).isPresent()) {
          return home;
        }
      }
    }
    return all.getFirst();
  }

  /** Tells a person who reads a list that there may be more in other cells. */
  public static void tellOfFormerCells(Session session) {
    List<Home> former = formerHomes(session);
    if (!former.isEmpty() && !session.json()) {
      session
          .terminal()
          .err()
          .println(
              "The tenant was in other cells before; for what it did there: "
                  + former.stream()
                      .map(home -> "--cell " + home.cell())
                      .collect(Collectors.joining(", ")));
    }
  }

  /** What is in force, as the system cell says it, or the log that the command names. */
  public static SystemState inForce(Session session) {
    Home home = place(session);
    home.requireExisting();
    Home system = session.cell().isPresent() ? home(session) : home.inCell(CellPlacement.SYSTEM);
    try (LedgerView view = OpenHome.read(system)) {
      return SystemState.read(view);
    }
  }

  /** Switches to the signature engine that verifies so many in the shortest time from now on. */
  public static void expectSignatures(long count) {
    SignatureEngines.use(
        count < SIGNATURES_WORTH_LOADING ? SignatureEngines.forAFew() : SignatureEngines.fastest());
  }

  /** A refusal of {@code CLI-015}. */
  public static WritException notFound(String what) {
    return new WritException(EmbedError.NOT_FOUND, what);
  }
}
