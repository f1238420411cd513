package dev.writ.cli.command.machine;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.key.KernelKeys;
import dev.writ.cli.command.serve.ConfigCommand;
import dev.writ.cli.doctor.HostFinding;
import dev.writ.cli.doctor.HostFinding.State;
import dev.writ.cli.home.StarterGateway;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.GuardianCard;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.KeyLookup;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.RotatedKeys;
import dev.writ.executor.SystemState;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.ledger.Anchor;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.error.LedgerError;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether a server finds what it starts with: its configuration, the kernel's keys, the ledger and
 * the anchor. Each is looked at as the server does; nothing is opened for writing.
 */
final class StartFindings {
  /** A key that others can read. That is said of the file, with what mends it. */
  private static final String EXPOSED = "CAN-072";

  /** A schema of a database that the server's start brings up to date. */
  private static final String OLDER = "PGS-017";

  /** What the environment of this command may lack and that of the server have. */
  private static final List<String> OF_THE_ENVIRONMENT = List.of("CAN-076", "CAN-077");

  private final Session session;
  private final Home home;
  private final List<HostFinding> bad = new ArrayList<>();

  private StartFindings(Session session) {
    this.session = session;
    this.home =
        new Home(
            session.home(),
            _ -> Homes.passphrase(session), // the doctor asks nobody
            Map.of(),
            KeyLookup.of(session.environment()));
  }

  /** One finding that is good, where nothing is missing; nothing where there is no ledger. */
  static List<HostFinding> look(Session session) {
    StartFindings findings = new StartFindings(session);
    if (!findings.home.exists() || !Files.isDirectory(findings.home.ledger())) {
      return List.of();
    }
    findings.look();
    return findings.bad.isEmpty()
        ? List.of(new HostFinding(State.GOOD, "server", "finds what it starts with"))
        : List.copyOf(findings.bad);
  }

  /**
   * Whether a look has found that the ledger cannot be read, so that nothing more is said of it.
   */
  static boolean isLedgerReadable(List<HostFinding> found) {
    return found.stream().noneMatch(finding -> finding.what().equals("ledger"));
  }

  private void look() {
    Optional<GatewayConfig> config = configuration();
    Optional<SystemState> inForce = inForce();
    RotatedKeys.ROLES.stream()
        .filter(role -> !isElsewhere(role.text()))
        .forEach(role -> key(role, inForce));
    boolean isAlone = config.filter(read -> read.extras().cells().isPresent()).isEmpty();
    if (isAlone && home.cells() == 1) { // of several gateways each has the anchors of what it owned
      anchor(isLedgerReadable(bad));
    }
  }

  /** Empty where the ledger cannot be read, or what it states does not hold. */
  private Optional<SystemState> inForce() {
    try {
      requireOwn();
    } catch (WritException e) {
      // A server brings an older schema up to date when it starts.
      add(e.code().code().equals(OLDER) ? State.WARNING : State.BAD, "ledger", e);
      return Optional.empty();
    }
    try {
      return Optional.of(Homes.inForce(session));
    } catch (WritException e) {
      return Optional.empty(); // said of what needs it
    }
  }

  private void requireOwn() {
    try (LedgerView view = OpenHome.read(home)) {
      if (!view.origin().equals(home.origin())) {
        throw new WritException(
            LedgerError.ORIGIN, "it is " + view.origin() + ", not " + home.origin());
      }
    }
  }

  /** Where guardian and executor are apart each home has its own keys. */
  private boolean isElsewhere(String name) {
    return name.equals("executor") && ExecutorCard.elsewhere(home).isPresent()
        || name.equals("guardian") && GuardianCard.isIn(home);
  }

  private Optional<GatewayConfig> configuration() {
    Path file = StarterGateway.file(home);
    try {
      return Files.exists(file)
          ? Optional.of(ConfigCommand.read(session, file.toString()))
          : Optional.empty();
    } catch (WritException e) {
      add(State.BAD, "configuration", e);
      return Optional.empty();
    }
  }

  private void key(KeyRole role, Optional<SystemState> inForce) {
    String name = role.text();
    try {
      SigningKey key = home.key(name);
      // A server starts all the same, and is not ready: nothing that it signs would be believed.
      inForce.ifPresent(
          state -> new KernelKeys(home, state, Homes.clock().instant()).require(role, key));
    } catch (WritException e) {
      String code = e.code().code();
      if (!code.equals(EXPOSED)) {
        boolean mayBeRead = OF_THE_ENVIRONMENT.contains(code) || code.startsWith("SGN-");
        add(mayBeRead ? State.WARNING : State.BAD, "key " + name, e);
      }
    }
    waiting(name);
  }

  /** A server starts without it, and goes on with the key before. */
  private void waiting(String name) {
    Path file = home.nextKeyFile(name);
    try {
      if (Files.exists(file)) {
        home.key(file.toString());
      }
    } catch (WritException e) {
      add(State.WARNING, "key " + name + " that waits", e);
    }
  }

  /** The anchor is read before the ledger: a server that runs commits in between. */
  private void anchor(boolean isLedgerRead) {
    try {
      Anchor anchor =
          Anchor.read(home.anchor())
              .orElseThrow(
                  () -> new WritException(LedgerError.ANCHOR_MISSING, home.anchor().toString()));
      if (isLedgerRead) {
        try (LedgerView view = OpenHome.read(home)) {
          if (view.origin().equals(home.origin())) {
            // Homes that share the log share its contents.
            anchor.verify(view, ContentPlaces.address(home.ledger()).isPresent());
          }
        }
      }
    } catch (WritException e) {
      add(State.BAD, "anchor", e);
    }
  }

  private void add(State state, String what, WritException why) {
    bad.add(new HostFinding(state, what, why.getMessage()));
  }
}
