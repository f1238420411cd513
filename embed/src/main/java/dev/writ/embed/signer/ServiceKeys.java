package dev.writ.embed.signer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.embed.error.SignerError;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** The keys of services that sign over the network (spec/keys.md, "Keys in a cloud's KMS"). */
public final class ServiceKeys {
  /** What names such a key begins with the name of its kind of service. */
  private static final Pattern NAMED = Pattern.compile("([a-z]+kms:).*");

  /** Public halves do not change; so each key is asked for its own once. */
  private static final ConcurrentHashMap<String, RemoteKey> OPEN = new ConcurrentHashMap<>();

  private final List<String> usual;

  /**
   * @param usual what WRIT_KMS says: the URIs of keys of which files have the public half alone,
   *     separated by white space
   */
  public ServiceKeys(Optional<String> usual) {
    this.usual =
        usual.stream()
            .flatMap(all -> Arrays.stream(all.split("\\s+")))
            .filter(uri -> !uri.isEmpty())
            .toList();
  }

  /** Whether this is the URI of a key of a service. */
  public static boolean isNamed(String key) {
    return NAMED.matcher(key).matches();
  }

  /**
   * The key that a URI names.
   *
   * @throws WritException {@code SGN-018} to {@code SGN-029}
   */
  public SigningKey named(String uri) {
    return signing(open(uri));
  }

  /**
   * The key with this public half. One that cannot be reached hides no other.
   *
   * @return empty where none of the usual ones is it, or there are none
   * @throws WritException {@code SGN-018} to {@code SGN-029} where it was not found, and one could
   *     not be asked
   */
  public Optional<SigningKey> find(VerifyingKey key) {
    Optional<WritException> first = Optional.empty();
    for (String uri : usual) {
      try {
        RemoteKey open = open(uri);
        if (open.publicHalf().equals(key)) {
          return Optional.of(signing(open));
        }
      } catch (WritException e) {
        first = first.or(() -> Optional.of(e));
      }
    }
    if (first.isPresent()) {
      throw first.get();
    }
    return Optional.empty();
  }

  private static SigningKey signing(RemoteKey key) {
    return SigningKey.outside(key.publicHalf(), key::sign);
  }

  private static RemoteKey open(String uri) {
    RemoteKey known = OPEN.get(uri);
    if (known == null) {
      known = provider(uri).open(uri);
      OPEN.put(uri, known);
    }
    return known;
  }

  private static KeyServiceProvider provider(String uri) {
    var matcher = NAMED.matcher(uri);
    if (!matcher.matches()) {
      throw new WritException(SignerError.SERVICE_URI, "WRIT_KMS has what is no URI of a key");
    }
    String prefix = matcher.group(1);
    return ServiceLoader.load(KeyServiceProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(provider -> provider.prefix().equals(prefix))
        .findFirst()
        .orElseThrow(() -> new WritException(SignerError.SERVICE_UNKNOWN, prefix));
  }
}
