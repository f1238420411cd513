package dev.writ.canonicalize.trust;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The enrolled keys: who may sign what. Immutable. */
public final class Trust {
  private final SortedMap<String, TrustedKey> keys;

  private Trust(SortedMap<String, TrustedKey> keys) {
    this.keys = Collections.unmodifiableSortedMap(keys);
  }

  public static Trust of(Collection<TrustedKey> keys) {
    TreeMap<String, TrustedKey> byId = new TreeMap<>();
    for (TrustedKey key : keys) {
      if (byId.put(key.kid(), key) != null) {
        throw new WritException(CanonicalizeError.KEY_TWICE, "key " + key.kid());
      }
    }
    return new Trust(byId);
  }

  /** All keys, by key id. */
  public SortedMap<String, TrustedKey> keys() {
    return keys;
  }

  public Optional<TrustedKey> key(String kid) {
    return Optional.ofNullable(keys.get(kid));
  }

  /**
   * Verifies every signature of an envelope: each by a known key, valid at that time and not
   * revoked, all of one role that may sign this payload type.
   *
   * @return the signers, in the order of their key ids; never empty
   * @throws WritException {@code CAN-06x} for the first signature that does not hold
   */
  public List<TrustedKey> verify(Envelope envelope, String payloadType, Instant at) {
    if (!envelope.payloadType().equals(payloadType)) {
      throw new WritException(
          CanonicalizeError.PAYLOAD_TYPE, envelope.payloadType() + " instead of " + payloadType);
    }
    byte[] message = Envelope.preAuthEncoding(payloadType, envelope.payload());
    List<TrustedKey> signers = new ArrayList<>();
    for (Envelope.Signature signature : envelope.signatures()) {
      TrustedKey trusted = keys.get(signature.kid());
      if (trusted == null) {
        throw new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + signature.kid());
      }
      if (!trusted.role().maySign(payloadType)) {
        throw new WritException(
            CanonicalizeError.KEY_ROLE,
            "key " + trusted.kid() + " is of role " + trusted.role().text());
      }
      if (at.isBefore(trusted.notBefore())
          || trusted.notAfter().filter(end -> !at.isBefore(end)).isPresent()) {
        throw new WritException(CanonicalizeError.KEY_WINDOW, "key " + trusted.kid());
      }
      if (trusted.revokedAt().isPresent()) {
        throw new WritException(CanonicalizeError.KEY_REVOKED, "key " + trusted.kid());
      }
      VerifyingKey key = trusted.key();
      key.verify(message, signature.bytes());
      signers.add(trusted);
    }
    if (signers.stream().map(TrustedKey::role).distinct().count() != 1) {
      throw new WritException(CanonicalizeError.KEY_ROLE, "signers of several roles");
    }
    return List.copyOf(signers);
  }
}
