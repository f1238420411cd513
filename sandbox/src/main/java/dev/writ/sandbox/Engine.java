package dev.writ.sandbox;

import java.util.Optional;

/** A way to confine processes. Thread safe. */
public interface Engine {

  /** The engine, and the guarantees that it gives on this host. */
  EngineReport report();

  /**
   * Makes a sandbox.
   *
   * @throws dev.writ.canonicalize.WritException {@code SBX-002} where the engine is not there,
   *     {@code SBX-003} where it cannot enforce what {@code spec} does not waive, {@code SBX-008},
   *     {@code SBX-021}, {@code SBX-022}
   */
  Sandbox create(SandboxSpec spec);

  /**
   * The image that gives a program in the place of this host, on an engine whose settings name one:
   * a command that names no image runs in it.
   *
   * @param program its name, without a directory
   */
  default Optional<ProgramImage> imageOf(String program) {
    return Optional.empty();
  }

  /** {@code bubblewrap}, {@code runc}: the name that policies and receipts use. */
  default String name() {
    return report().name();
  }
}
