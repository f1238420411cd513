package dev.writ.embed.signer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.embed.error.SignerError;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The Ed25519 and P-256 keys of tokens that have a PKCS#11 module: hardware security modules, smart
 * cards, SoftHSM (spec/keys.md, "Keys in a token").
 */
public final class TokenKeys {
  /** What a key of a token is named by begins with this. */
  public static final String PREFIX = TokenUri.SCHEME;

  /** One for each token: a PIN that it refused is not tried again by this process. */
  private static final ConcurrentHashMap<String, OpenToken> OPEN = new ConcurrentHashMap<>();

  private static final ConcurrentHashMap<String, Cryptoki> MODULES = new ConcurrentHashMap<>();

  private final Optional<String> usual;
  private final Optional<String> pin;

  /**
   * @param usual what WRIT_PKCS11 says: the URI of the token where a key does not name one
   * @param pin what WRIT_PKCS11_PIN says
   */
  public TokenKeys(Optional<String> usual, Optional<String> pin) {
    this.usual = usual;
    this.pin = pin;
  }

  /**
   * The key that this names.
   *
   * @param text a whole {@code pkcs11:} URI
   * @param asked gives a token's PIN where neither the URI nor the environment does, by the token's
   *     label; null where nobody can be asked
   * @throws WritException {@code SGN-010} to {@code SGN-017}
   */
  public SigningKey named(String text, Function<String, char[]> asked) {
    TokenUri uri = usual().map(TokenUri.parse(text)::orElse).orElseGet(() -> TokenUri.parse(text));
    if (!uri.namesKey()) {
      throw new WritException(SignerError.TOKEN_URI, "it names no key: add object= or id=");
    }
    OpenToken token = token(uri);
    TokenPin pin = pin(uri, asked);
    return signing(token, token.named(uri, pin), pin);
  }

  /**
   * The key with this public half.
   *
   * @return empty where the usual token does not have it, or there is none
   * @throws WritException {@code SGN-010} to {@code SGN-017}
   */
  public Optional<SigningKey> find(VerifyingKey key, Function<String, char[]> asked) {
    return usual()
        .flatMap(uri -> {
          OpenToken token = token(uri);
          TokenPin pin = pin(uri, asked);
          return token.has(key, pin) ? Optional.of(signing(token, key, pin)) : Optional.empty();
        });
  }

  private static SigningKey signing(OpenToken token, VerifyingKey key, TokenPin pin) {
    return SigningKey.outside(key, message -> token.sign(key, message, pin));
  }

  private TokenPin pin(TokenUri uri, Function<String, char[]> asked) {
    return new TokenPin(uri.pinSource(), pin, asked);
  }

  private Optional<TokenUri> usual() {
    return usual.map(TokenUri::parse);
  }

  private static OpenToken token(TokenUri uri) {
    if (uri.module().isEmpty()) {
      throw new WritException(SignerError.TOKEN_URI, "it names no module: add ?module-path=/…");
    }
    String module = uri.module().get().toString();
    Cryptoki cryptoki = MODULES.computeIfAbsent(module, _ -> load(uri));
    Cryptoki.Token token;
    synchronized (cryptoki) {
      token = chosen(cryptoki, uri);
    }
    return OPEN.computeIfAbsent(
        module + " " + token.serial() + " " + token.label(), _ -> new OpenToken(cryptoki, token));
  }

  private static Cryptoki load(TokenUri uri) {
    String module = uri.module().orElseThrow().toString();
    try {
      return Cryptoki.load(uri.module().orElseThrow());
    } catch (IllegalArgumentException | NoSuchElementException | Cryptoki.Failure e) {
      throw new WritException(SignerError.TOKEN_MODULE, module + ": " + e.getMessage(), e);
    }
  }

  /** The one token that this names. */
  private static Cryptoki.Token chosen(Cryptoki cryptoki, TokenUri uri) {
    List<Cryptoki.Token> all;
    try {
      all = cryptoki.tokens();
    } catch (Cryptoki.Failure e) {
      throw new WritException(SignerError.TOKEN_FAILED, e.getMessage(), e);
    }
    List<Cryptoki.Token> meant =
        all.stream()
            .filter(t -> is(uri, "token", t.label()))
            .filter(t -> is(uri, "manufacturer", t.manufacturer()))
            .filter(t -> is(uri, "model", t.model()))
            .filter(t -> is(uri, "serial", t.serial()))
            .filter(t -> is(uri, "slot-id", Long.toUnsignedString(t.slot())))
            .toList();
    if (meant.size() != 1) {
      throw new WritException(
          SignerError.TOKEN_ABSENT,
          uri.words()
              + ": "
              + meant.size()
              + " of the module's tokens, "
              + all.stream().map(t -> t.label() + " (serial " + t.serial() + ")").toList());
    }
    return meant.getFirst();
  }

  private static boolean is(TokenUri uri, String attribute, String value) {
    return uri.attribute(attribute).map(value::equals).orElse(true);
  }
}
