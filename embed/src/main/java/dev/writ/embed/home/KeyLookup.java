package dev.writ.embed.home;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.embed.signer.ServiceKeys;
import dev.writ.embed.signer.SshAgent;
import dev.writ.embed.signer.TokenKeys;
import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where private keys are looked for beside the home.
 *
 * @param folders for keys of people and agents; none to look where the home's settings say
 * @param agent for keys whose secret half is in no file
 * @param tokens the same, in tokens that have a PKCS#11 module
 * @param services the same, of services that sign over the network
 */
public record KeyLookup(
    List<Path> folders, SshAgent agent, TokenKeys tokens, ServiceKeys services) {
  /** Where the home's settings say, and in no agent, token or service. */
  public static final KeyLookup NONE =
      new KeyLookup(
          List.of(),
          new SshAgent(Optional.empty()),
          new TokenKeys(Optional.empty(), Optional.empty()),
          new ServiceKeys(Optional.empty()));

  public KeyLookup {
    folders = List.copyOf(folders);
  }

  /** What WRIT_KEYS, SSH_AUTH_SOCK, WRIT_PKCS11, WRIT_PKCS11_PIN and WRIT_KMS say. */
  public static KeyLookup of(Map<String, String> environment) {
    return new KeyLookup(
        Arrays.stream(environment.getOrDefault("WRIT_KEYS", "").split(File.pathSeparator))
            .filter(folder -> !folder.isEmpty())
            .map(folder -> Path.of(folder).toAbsolutePath().normalize())
            .toList(),
        new SshAgent(set(environment, "SSH_AUTH_SOCK").map(Path::of)),
        new TokenKeys(set(environment, "WRIT_PKCS11"), set(environment, "WRIT_PKCS11_PIN")),
        new ServiceKeys(set(environment, "WRIT_KMS")));
  }

  private static Optional<String> set(Map<String, String> environment, String name) {
    return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
  }

  /**
   * A key that this names.
   *
   * @return empty where it names a key of no agent, token or service
   * @throws dev.writ.canonicalize.WritException {@code SGN-0xx}
   */
  Optional<SigningKey> named(String key, KeyPassphrase asked) {
    if (key.startsWith(SshAgent.PREFIX)) {
      return Optional.of(agent.named(key.substring(SshAgent.PREFIX.length())));
    }
    if (key.startsWith(TokenKeys.PREFIX)) {
      return Optional.of(tokens.named(key, asked::pin));
    }
    return ServiceKeys.isNamed(key) ? Optional.of(services.named(key)) : Optional.empty();
  }

  /**
   * The key whose file has only the public half: that of the token of WRIT_PKCS11, else one of
   * WRIT_KMS, else the agent's.
   *
   * @throws dev.writ.canonicalize.WritException {@code SGN-0xx}
   */
  SigningKey other(VerifyingKey publicHalf, KeyPassphrase asked) {
    return tokens
        .find(publicHalf, asked::pin)
        .or(() -> services.find(publicHalf))
        .orElseGet(() -> agent.of(publicHalf));
  }
}
