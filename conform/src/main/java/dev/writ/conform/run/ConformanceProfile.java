package dev.writ.conform.run;

import java.util.List;

/** How much an implementation claims. Each profile holds those before it. */
public enum ConformanceProfile {
  /**
   * The bytes that everybody must agree on: canonical forms, digests, signatures, envelopes, log.
   */
  L1(
      "canonicalize",
      "digest",
      "ed25519",
      "jwk",
      "pae",
      "dsse",
      "trust",
      "es256",
      "webauthn",
      "merkle",
      "checkpoint"),
  /** What may happen: judgement, gate, receipts. */
  L2("guardian", "gate", "receipt"),
  /** What does happen: the executor under faults and attack, bundles, replay. */
  L3("executor", "adversarial", "bundle", "runs", "recorded");

  /** All of them, each before those that hold it. */
  public static final List<ConformanceProfile> ALL = List.of(values());

  private final List<String> own;

  ConformanceProfile(String... suites) {
    this.own = List.of(suites);
  }

  /** The suites that this profile adds; each is a folder of golden-vectors/. */
  public List<String> own() {
    return own;
  }

  /** Whether this profile holds a suite of that one. */
  public boolean holds(ConformanceProfile other) {
    return other.compareTo(this) <= 0;
  }
}
