package dev.writ.embed;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.SystemState;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.note.Checkpoint;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;

/**
 * An installation in this process: Guardian, SafeExecutor and ledger, with the same data directory
 * as the command line's, one process at a time. Thread safe, also for virtual threads.
 *
 * <p>Opening one sets the process's umask to 077, so that no library makes a file there that others
 * can read.
 */
public final class Writ implements AutoCloseable {
  private final OpenHome home;
  private final SecureRandom random;
  private final Runnable afterwards;

  Writ(OpenHome home, SecureRandom random, Runnable afterwards) {
    this.home = home;
    this.random = random;
    this.afterwards = afterwards;
  }

  /**
   * Opens the installation in a directory; makes one with the starter policy where there is none.
   *
   * @param directory for example {@code writ-data}; its anchor lies beside it
   * @throws WritException {@code LED-003} where another process has it open, and the code of any
   *     other failed check
   */
  public static Writ open(Path directory) {
    return at(directory).open();
  }

  /** Starts a builder, which says how the installation in a directory is made and opened. */
  public static WritBuilder at(Path directory) {
    return new WritBuilder(Optional.of(directory));
  }

  /**
   * An installation for tests: in memory where {@code /dev/shm} has room, else in the directory for
   * temporary files; it is gone when it is closed.
   */
  public static WritBuilder inMemory() {
    return new WritBuilder(Optional.empty());
  }

  /**
   * An agent of this installation.
   *
   * @param name of its key
   * @throws WritException {@code CLI-013} for a name that no key can have, {@code CAN-07x} where
   *     the key cannot be read, {@code CAN-052} where it is not enrolled
   */
  public Agent agent(String name) {
    SigningKey key = home.home().key(name);
    return new Agent(home, key, enrolled(key), random);
  }

  /**
   * An approver of this installation.
   *
   * @param name of its key
   * @throws WritException as {@link #agent}
   */
  public Approvals approver(String name) {
    SigningKey key = home.home().key(name);
    enrolled(key);
    return new Approvals(home, key, random);
  }

  private TrustedKey enrolled(SigningKey key) {
    return home.kernel()
        .system()
        .trust()
        .key(key.kid())
        .orElseThrow(() -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + key.kid()));
  }

  /**
   * Puts a policy in force, signed by the policy owner's key. Intents issued under the previous
   * policy and not executed yet are refused.
   *
   * @param yaml as spec/policy.md says; version and {@code previous} are set to follow the one in
   *     force, unless it states them
   * @throws WritException {@code GRD-1xx} where it is no policy
   */
  public void activate(String yaml) {
    Policy policy =
        Policy.parse(yaml.getBytes(StandardCharsets.UTF_8), "policy").following(inForce());
    home.kernel()
        .activate(
            Envelope.sign(
                SystemState.POLICY_TYPE, policy.toJson(), home.home().key("policy-owner")));
  }

  /** Where it is. */
  public Path directory() {
    return home.home().dir();
  }

  /** The policy in force, in the canonical form that its owner signed (spec/policy.md). */
  public JsonValue.Obj policy() {
    return inForce().toJson();
  }

  private Policy inForce() {
    return home.kernel().system().policyInForce();
  }

  /** All tools of the installation; policy says which may be used. */
  public List<ToolManifest> tools() {
    return home.manifests();
  }

  /** The public keys in force, for verifying a bundle. */
  public Trust trust() {
    return home.kernel().system().trust();
  }

  /**
   * A signed checkpoint over everything that is in the log.
   *
   * @throws WritException {@code EXE-912} where the log's key is not in force
   */
  public Checkpoint checkpoint() {
    return home.kernel().checkpoint();
  }

  /**
   * Closes it; closing it once more does nothing. It waits for no call: one that is at work ends
   * with {@code LED-023}, and its effect is in doubt when the installation is opened again.
   */
  @Override
  public void close() {
    try {
      home.close();
    } finally {
      afterwards.run();
    }
  }
}
