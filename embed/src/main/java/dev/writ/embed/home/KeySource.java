package dev.writ.embed.home;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;

/**
 * Where the private keys of a new home come from: keys that the caller brings are never written to
 * disk; all others are generated into the home's folder of keys.
 *
 * @param brought by the key's name, for example {@code guardian}
 * @param passphrase encrypts the key files; empty leaves them plain, readable by their owner alone
 */
public record KeySource(Map<String, SigningKey> brought, Optional<char[]> passphrase) {
  public KeySource {
    brought = Map.copyOf(brought);
  }

  /** All of them made. */
  public static KeySource made(Optional<char[]> passphrase) {
    return new KeySource(Map.of(), passphrase);
  }

  SigningKey make(Home home, String name, SecureRandom random) {
    SigningKey own = brought.get(name);
    if (own != null) {
      return own;
    }
    SigningKey key = SigningKey.generateEd25519(random);
    KeyFiles.write(home.keyFile(name), key, passphrase.orElse(null), random);
    return key;
  }
}
