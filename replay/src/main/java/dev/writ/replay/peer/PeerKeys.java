package dev.writ.replay.peer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import java.util.Optional;

/** Ed25519 keys as the systems of others write them: 64 hexadecimal digits. */
public final class PeerKeys {
  private static final int BYTES = 32;

  private PeerKeys() {}

  /** The key, or empty where the text is none, or a weak one. */
  public static Optional<VerifyingKey> parse(String text) {
    return Peers.hex(text.strip()).filter(raw -> raw.length == BYTES).flatMap(PeerKeys::key);
  }

  private static Optional<VerifyingKey> key(byte[] raw) {
    try {
      return Optional.of(VerifyingKey.ed25519(raw));
    } catch (WritException e) {
      return Optional.empty();
    }
  }
}
