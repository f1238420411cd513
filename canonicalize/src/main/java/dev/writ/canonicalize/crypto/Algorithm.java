package dev.writ.canonicalize.crypto;

import java.util.List;

/** A signature algorithm, by its JOSE name. */
public enum Algorithm {
  /** RFC 8032, pure; the name of RFC 9864. */
  ED25519("Ed25519"),
  /** ECDSA over P-256 with SHA-256 (FIPS 186-5), r and s of 32 bytes each; RFC 7518, 3.4. */
  ES256("ES256"),
  /** FIPS 204, pure, empty context, deterministic variant; the name of RFC 9964. */
  ML_DSA_65("ML-DSA-65"),
  /**
   * An assertion of a passkey: ES256 over what the browser and the authenticator state (Web
   * Authentication Level 3). Only people sign with it, and never a program of ours.
   */
  WEBAUTHN("WebAuthn");

  /** All of them, in the order of their declaration. */
  public static final List<Algorithm> ALL = List.of(values());

  /** Those whose private keys are 32 secret bytes in a file. */
  public static final List<Algorithm> SEEDED = List.of(ED25519, ES256, ML_DSA_65);

  private final String text;

  Algorithm(String text) {
    this.text = text;
  }

  /** The name in documents. */
  public String text() {
    return text;
  }
}
