package dev.writ.canonicalize.trust;

/** Payload types of our envelopes: {@code application/vnd.writ.<kind>.v1+json}. */
public final class PayloadTypes {
  static final String PREFIX = "application/vnd.writ.";

  private PayloadTypes() {}

  /** The payload type of a kind, for example {@code receipt}. */
  public static String of(String kind) {
    return PREFIX + kind + ".v1+json";
  }
}
