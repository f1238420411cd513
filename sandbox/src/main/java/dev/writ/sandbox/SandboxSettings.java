package dev.writ.sandbox;

import dev.writ.sandbox.egress.Resolver;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where sandboxes keep what they need, and as whom they run.
 *
 * @param stateDirectory for what exists while sandboxes live, and for the workspaces of runs; of
 *     plain ASCII, and every user may traverse it. One process at a time uses it.
 * @param firstUid the first of the host user ids that sandboxes run as; nobody else may have them
 * @param sandboxes how many may live at once; each takes two user ids
 * @param resolver what the egress proxy looks names up by
 * @param containers the socket of a docker or podman service; without one it is looked for
 */
public record SandboxSettings(
    Path stateDirectory,
    long firstUid,
    int sandboxes,
    Resolver resolver,
    Optional<Path> containers) {

  public SandboxSettings(Path stateDirectory, long firstUid, int sandboxes, Resolver resolver) {
    this(stateDirectory, firstUid, sandboxes, resolver, Optional.empty());
  }

  /** User ids from 2,000,000,000, which no distribution hands out. */
  public static SandboxSettings in(Path stateDirectory) {
    return new SandboxSettings(stateDirectory, 2_000_000_000L, 1_000, Resolver.HOST);
  }

  public SandboxSettings with(Resolver other) {
    return new SandboxSettings(stateDirectory, firstUid, sandboxes, other, containers);
  }

  public SandboxSettings withContainers(Path socket) {
    return new SandboxSettings(stateDirectory, firstUid, sandboxes, resolver, Optional.of(socket));
  }
}
