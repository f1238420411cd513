package dev.writ.sandbox;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.egress.OriginTls;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.WorkspaceBounds;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * The settings of all sandboxes of this process.
 *
 * @param stateDirectory holds the files of sandboxes while they live, and the workspaces of runs;
 *     its path is plain ASCII, and every user may traverse it. Only one process at a time uses it.
 * @param firstUid the first of the host user ids that sandboxes run as; no other user may have
 *     these ids
 * @param sandboxes how many may live at once; each takes two user ids
 * @param resolver resolves names for the egress proxy
 * @param tls the authorities that the egress proxy trusts for requests that it sends itself
 * @param privatePlaces destinations {@code host:port} that may have private addresses, whatever a
 *     rule says: servers in the operator's own network
 * @param containers the socket of a docker or podman service; if absent, usual places are tried
 * @param workspaces how many may exist
 * @param workspaceRoot the directory of this host under which a command may name a directory that
 *     becomes its workspace
 * @param remote opens an engine that confines processes elsewhere
 * @param owner the name of the installation whose runs have the workspaces; if absent, nobody asks
 */
public record SandboxSettings(
    Path stateDirectory,
    long firstUid,
    int sandboxes,
    Resolver resolver,
    Supplier<SSLContext> tls,
    List<String> privatePlaces,
    Optional<Path> containers,
    WorkspaceBounds workspaces,
    Optional<Path> workspaceRoot,
    Optional<RemoteEngine.Opener> remote,
    Optional<String> owner) {
  public SandboxSettings {
    privatePlaces = List.copyOf(privatePlaces);
    privatePlaces.forEach(SandboxSettings::requirePlace);
  }

  /**
   * @throws WritException {@code SBX-029} for what no rule could name
   */
  private static void requirePlace(String place) {
    int colon = place.lastIndexOf(':');
    String port = place.substring(colon + 1);
    if (colon < 0 || !port.matches("[0-9]{1,5}")) {
      throw new WritException(SandboxError.EGRESS_RULE, "a private place without a port");
    }
    EgressRule.of(place.substring(0, colon), Integer.parseInt(port));
  }

  public SandboxSettings(Path stateDirectory, long firstUid, int sandboxes, Resolver resolver) {
    this(
        stateDirectory,
        firstUid,
        sandboxes,
        resolver,
        OriginTls::ofTheJdk,
        List.of(),
        Optional.empty(),
        WorkspaceBounds.STANDARD,
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** Uses user ids from 2,000,000,000, which no distribution assigns. */
  public static SandboxSettings in(Path stateDirectory) {
    return new SandboxSettings(stateDirectory, 2_000_000_000L, 1_000, Resolver.HOST);
  }

  /** The same with another state directory. */
  public SandboxSettings at(Path directory) {
    return new SandboxSettings(
        directory,
        firstUid,
        sandboxes,
        resolver,
        tls,
        privatePlaces,
        containers,
        workspaces,
        workspaceRoot,
        remote,
        owner);
  }

  public SandboxSettings with(Resolver other) {
    return new SandboxSettings(
        stateDirectory,
        firstUid,
        sandboxes,
        other,
        tls,
        privatePlaces,
        containers,
        workspaces,
        workspaceRoot,
        remote,
        owner);
  }

  public SandboxSettings trusting(SSLContext context) {
    return new SandboxSettings(
        stateDirectory,
        firstUid,
        sandboxes,
        resolver,
        () -> context,
        privatePlaces,
        containers,
        workspaces,
        workspaceRoot,
        remote,
        owner);
  }

  public SandboxSettings reaching(List<String> places) {
    return new SandboxSettings(
        stateDirectory,
        firstUid,
        sandboxes,
        resolver,
        tls,
        places,
        containers,
        workspaces,
        workspaceRoot,
        remote,
        owner);
  }

  public SandboxSettings withContainers(Path socket) {
    return new SandboxSettings(
        stateDirectory,
        firstUid,
        sandboxes,
        resolver,
        tls,
        privatePlaces,
        Optional.of(socket),
        workspaces,
        workspaceRoot,
        remote,
        owner);
  }

  public SandboxSettings keeping(WorkspaceBounds bounds) {
    return new SandboxSettings(
        stateDirectory,
        firstUid,
        sandboxes,
        resolver,
        tls,
        privatePlaces,
        containers,
        bounds,
        workspaceRoot,
        remote,
        owner);
  }

  public SandboxSettings rooted(Path root) {
    return new SandboxSettings(
        stateDirectory,
        firstUid,
        sandboxes,
        resolver,
        tls,
        privatePlaces,
        containers,
        workspaces,
        Optional.of(root),
        remote,
        owner);
  }

  /** Adds an engine that confines processes elsewhere, and runs all images. */
  public SandboxSettings remotely(RemoteEngine.Opener opener) {
    return new SandboxSettings(
        stateDirectory,
        firstUid,
        sandboxes,
        resolver,
        tls,
        privatePlaces,
        containers,
        workspaces,
        workspaceRoot,
        Optional.of(opener),
        owner);
  }

  /** For one installation: workspaces that another one left in the directory are removed. */
  public SandboxSettings owned(String installation) {
    return new SandboxSettings(
        stateDirectory,
        firstUid,
        sandboxes,
        resolver,
        tls,
        privatePlaces,
        containers,
        workspaces,
        workspaceRoot,
        remote,
        Optional.of(installation));
  }

  /** The rule, with private addresses allowed for the installation's own destinations. */
  public EgressRule placed(EgressRule rule) {
    boolean ours = privatePlaces.contains(rule.host() + ":" + rule.port());
    return ours ? new EgressRule(rule.host(), rule.port(), true, rule.broker()) : rule;
  }
}
