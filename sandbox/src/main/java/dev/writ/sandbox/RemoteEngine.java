package dev.writ.sandbox;

import java.nio.file.Path;

/** An engine that confines processes on other hosts. Workspaces stay on this one. */
public interface RemoteEngine extends Engine, AutoCloseable {

  /** What was done so far. */
  Tally tally();

  /** Destroys every sandbox. */
  @Override
  void close();

  /**
   * The parts of this host that it uses.
   *
   * @param live where fresh workspaces and sockets of sandboxes lie, in one directory for each
   * @param installation the id of the state directory: 32 hexadecimal digits. What it makes
   *     elsewhere is labelled with it, and what is labelled so when it is opened was left behind.
   * @param settings for egress: the resolver, the authorities, the places of this installation
   */
  record Place(Path live, String installation, SandboxSettings settings) {}

  /** Opens an engine, once for each state directory. */
  interface Opener {

    /** What it would give; changes nothing. */
    EngineReport look();

    /**
     * Opens it, and removes what a killed process left.
     *
     * @throws dev.writ.canonicalize.WritException where it cannot be reached or is badly configured
     */
    RemoteEngine open(Place place);
  }
}
