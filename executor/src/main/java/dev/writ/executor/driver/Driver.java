package dev.writ.executor.driver;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.HostTerms;
import java.util.List;
import java.util.Optional;

/**
 * Runs the tools of one kind. A driver decides nothing: it gets an effect that passed the Gate, and
 * reports what happened. Thread safe.
 */
public interface Driver {

  /** The name by which manifests name this driver. */
  String name();

  /**
   * The strongest determinism that this driver can promise, whatever a manifest says. {@link
   * Determinism#PURE} only for a driver without host clock, network and workspace (protocol rule
   * 14).
   */
  Determinism determinism();

  /**
   * The digest of the definition of a sandbox profile in this driver; it goes into the snapshot.
   *
   * @throws dev.writ.canonicalize.WritException with a code of the driver, for a profile that it
   *     does not have
   */
  Digest sandboxProfile(String profile);

  /**
   * Digests that earlier releases returned from {@link #sandboxProfile}; replay accepts them for
   * runs of those releases.
   */
  default List<Digest> sandboxProfilesBefore(String profile) {
    return List.of();
  }

  /**
   * Gets ready to run an operation: loads and compiles what is needed, without any effect. Called
   * in stage 3, so that what is missing is found before anything is dispatched.
   *
   * @throws dev.writ.canonicalize.WritException with a code of the driver, where it cannot
   */
  Prepared prepare(ToolManifest manifest, String operation, PackageContent content);

  /**
   * The language runtime of this host that would run the tool, where it needs one that can be
   * approved or not.
   *
   * @throws dev.writ.canonicalize.WritException with a code of the driver, where there is none
   */
  default Optional<LanguageRuntime> runtime(ToolManifest manifest) {
    return Optional.empty();
  }

  /**
   * A language runtime.
   *
   * @param language as in {@code tool.manifest}
   * @param version its own full version, for example {@code 3.13.5}
   */
  record LanguageRuntime(String language, String version) {}

  /**
   * The same under a policy with terms for the hosts that effects run on.
   *
   * @param host policy's terms; ignored by drivers that depend on nothing of the host
   */
  default Prepared prepare(
      ToolManifest manifest, String operation, PackageContent content, HostTerms host) {
    return prepare(manifest, operation, content);
  }

  /**
   * The same for a call of which more is known, for a driver that keeps something ready for each
   * scope. What it finds missing there is refused before anything is dispatched.
   */
  default Prepared prepare(
      ToolManifest manifest,
      String operation,
      PackageContent content,
      HostTerms host,
      ExpectedCall call) {
    return prepare(manifest, operation, content, host);
  }

  /**
   * Told that a run is closed, so that nothing of it is called any more: a driver that keeps
   * something ready for it ends that, and waits until it has ended.
   */
  default void closed(String tenant, String run) {
    // most keep nothing
  }

  /** The bytes of a tool's package; each is re-hashed when it is read. */
  @FunctionalInterface
  interface PackageContent {
    byte[] read(ToolManifest.PackageFile file);
  }

  /** An operation ready to run. */
  @FunctionalInterface
  interface Prepared {
    /**
     * Runs it once. Whatever the tool does, it comes back as an {@link DriverOutcome}; an exception
     * means that the driver itself failed, and is recorded as such.
     */
    DriverOutcome run(Invocation invocation);
  }
}
