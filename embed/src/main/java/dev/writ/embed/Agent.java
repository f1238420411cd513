package dev.writ.embed;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.embed.home.OpenHome;
import java.security.SecureRandom;

/** An agent by its key. Thread safe. */
public final class Agent {
  private final OpenHome home;
  private final SigningKey key;
  private final TrustedKey enrolled;
  private final SecureRandom random;

  Agent(OpenHome home, SigningKey key, TrustedKey enrolled, SecureRandom random) {
    this.home = home;
    this.key = key;
    this.enrolled = enrolled;
    this.random = random;
  }

  /**
   * One of its runs; the receipts of its requests form one chain.
   *
   * @param name of at most 256 characters; the first request opens the run
   */
  public AgentRun run(String name) {
    return new AgentRun(home, key, enrolled, random, name);
  }

  /** Its tenant. */
  public String tenant() {
    return enrolled.tenant().orElse("");
  }

  /** Its name among the tenant's. */
  public String subject() {
    return enrolled.subject();
  }
}
