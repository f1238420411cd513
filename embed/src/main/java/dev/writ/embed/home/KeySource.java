package dev.writ.embed.home;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.trust.KeyRole;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;

/**
 * Where the private keys of a new home come from: keys that the caller brings are never written to
 * disk; all others are generated into the home's folder of keys.
 *
 * @param brought by the key's name, for example {@code guardian}
 * @param passphrase encrypts the key files; empty leaves them plain, readable by their owner alone
 * @param apart where the keys of people and agents are made, if not in the home
 */
public record KeySource(
    Map<String, SigningKey> brought, Optional<char[]> passphrase, Optional<Apart> apart) {
  /**
   * A folder that is not in the home.
   *
   * @param folder it need not exist
   * @param passphrase encrypts the files of the operator, the policy owner and the approver; the
   *     agent's, which programs use, has the passphrase of the home's
   */
  public record Apart(Path folder, Optional<char[]> passphrase) {
    public Apart {
      folder = folder.toAbsolutePath().normalize();
    }
  }

  public KeySource {
    brought = Map.copyOf(brought);
  }

  /** All of them made. */
  public static KeySource made(Optional<char[]> passphrase) {
    return new KeySource(Map.of(), passphrase);
  }

  /** All in the home, but for those that are brought. */
  public KeySource(Map<String, SigningKey> brought, Optional<char[]> passphrase) {
    this(brought, passphrase, Optional.empty());
  }

  /** The file of a key that is made; empty for one that is brought. */
  Optional<Path> file(Home home, String name, KeyRole role) {
    return brought.containsKey(name)
        ? Optional.empty()
        : Optional.of(
            apart
                .filter(_ -> !KeyPlaces.isServers(role))
                .map(place -> place.folder().resolve(name + KeyPlaces.PEM))
                .orElse(home.keyFile(name)));
  }

  SigningKey make(Home home, String name, KeyRole role, SecureRandom random) {
    SigningKey own = brought.get(name);
    if (own != null) {
      return own;
    }
    SigningKey key = SigningKey.generateEd25519(random);
    Optional<char[]> secret =
        KeyPlaces.isServers(role) || role == KeyRole.AGENT
            ? passphrase
            : apart.flatMap(Apart::passphrase).or(() -> passphrase);
    KeyFiles.write(file(home, name, role).orElseThrow(), key, secret.orElse(null), random);
    return key;
  }
}
