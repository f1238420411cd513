package dev.writ.embed.signer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.embed.error.SignerError;
import dev.writ.embed.signer.Cryptoki.Attribute;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A token with a session that is logged in, one caller after the other. A session that was lost (a
 * card was taken out and put back, a service was started anew) is opened again once for each call.
 * Where none can be opened, the next call starts the module anew before.
 */
final class OpenToken {
  private static final long CLASS = 0x0;
  private static final long LABEL = 0x3;
  static final long KEY_TYPE = 0x100;
  private static final long ID = 0x102;
  private static final long EC_PARAMS = 0x180;
  private static final long EC_POINT = 0x181;
  private static final long PUBLIC_KEY = 2;
  private static final long PRIVATE_KEY = 3;

  private static final int SIGNATURE_BYTES = 64;

  private final Cryptoki cryptoki;
  private final Cryptoki.Token token;

  /** Handles of private keys in this session, by the id of the key. */
  private final TreeMap<String, Long> known = new TreeMap<>();

  private Optional<Long> session = Optional.empty();

  /** How often the module had been started anew when the session was opened. */
  private int starts;

  private long slot;
  private boolean cannotOpen;
  private boolean pinRefused;

  OpenToken(Cryptoki cryptoki, Cryptoki.Token token) {
    this.cryptoki = cryptoki;
    this.token = token;
    this.slot = token.slot();
  }

  /**
   * The public half of the private key that a URI names.
   *
   * @throws WritException {@code SGN-013} to {@code SGN-017}
   */
  VerifyingKey named(TokenUri uri, TokenPin pin) {
    List<Attribute> wanted = new ArrayList<>();
    uri.attribute("object")
        .ifPresent(
            label -> wanted.add(new Attribute(LABEL, label.getBytes(StandardCharsets.UTF_8))));
    uri.attribute("id").ifPresent(id -> wanted.add(new Attribute(ID, HexFormat.of().parseHex(id))));
    return inSession(
        pin,
        session -> {
          List<Long> found = objects(session, PRIVATE_KEY, wanted);
          if (found.isEmpty()) {
            throw new WritException(
                SignerError.TOKEN_KEY_ABSENT, uri.words() + " in " + token.label());
          }
          if (found.size() > 1) {
            throw new WritException(
                SignerError.TOKEN_KEY_AMBIGUOUS,
                uri.words() + ": " + found.size() + " private keys");
          }
          return publicHalf(session, found.getFirst(), uri);
        });
  }

  private VerifyingKey publicHalf(long session, long key, TokenUri uri) {
    byte[] type = cryptoki.attribute(session, key, KEY_TYPE).orElse(new byte[0]);
    TokenKeyKind kind =
        TokenKeyKind.ALL.stream()
            .filter(k -> Arrays.equals(type, k.type().value()))
            .findFirst()
            .orElseThrow(() ->
                new WritException(
                    SignerError.TOKEN_KEY_KIND, uri.words() + " is no key of an elliptic curve"));
    byte[] id = cryptoki.attribute(session, key, ID).orElse(new byte[0]);
    return objects(session, PUBLIC_KEY, List.of(kind.type(), new Attribute(ID, id))).stream()
        .flatMap(other -> point(session, other, kind).stream())
        .findFirst()
        .orElseThrow(() ->
            new WritException(
                SignerError.TOKEN_KEY_KIND,
                uri.words()
                    + " has no public key of its id beside it that is Ed25519 or of P-256"));
  }

  /** The key of a public object; empty where that is of another curve. */
  private Optional<VerifyingKey> point(long session, long object, TokenKeyKind kind) {
    byte[] curve = cryptoki.attribute(session, object, EC_PARAMS).orElse(new byte[0]);
    return cryptoki.attribute(session, object, EC_POINT).flatMap(point -> kind.key(curve, point));
  }

  private List<Long> objects(long session, long kind, List<Attribute> more) {
    List<Attribute> wanted = new ArrayList<>(more);
    wanted.add(Attribute.of(CLASS, kind));
    return cryptoki.find(session, wanted);
  }

  /** Whether it has both halves of this key. */
  boolean has(VerifyingKey key, TokenPin pin) {
    return inSession(pin, session -> handle(session, key)).isPresent();
  }

  /**
   * @throws WritException {@code SGN-013}, {@code SGN-014}, {@code SGN-017}
   */
  byte[] sign(VerifyingKey key, byte[] message, TokenPin pin) {
    TokenKeyKind kind = TokenKeyKind.of(key.algorithm());
    byte[] signature =
        inSession(
            pin,
            session ->
                cryptoki.sign(
                    session,
                    handle(session, key)
                        .orElseThrow(() ->
                            new WritException(
                                SignerError.TOKEN_KEY_ABSENT, key.kid() + " in " + token.label())),
                    kind.mechanism(),
                    kind.signed(message)));
    if (signature.length != SIGNATURE_BYTES) {
      throw new WritException(
          SignerError.TOKEN_FAILED, "a signature of " + signature.length + " bytes");
    }
    return signature;
  }

  private Optional<Long> handle(long session, VerifyingKey key) {
    Long handle = known.get(key.kid());
    if (handle != null) {
      return Optional.of(handle);
    }
    TokenKeyKind kind = TokenKeyKind.of(key.algorithm());
    for (long other : objects(session, PUBLIC_KEY, List.of(kind.type()))) {
      if (point(session, other, kind).filter(key::equals).isPresent()) {
        byte[] id = cryptoki.attribute(session, other, ID).orElse(new byte[0]);
        for (long own :
            objects(session, PRIVATE_KEY, List.of(kind.type(), new Attribute(ID, id)))) {
          known.put(key.kid(), own);
          return Optional.of(own);
        }
      }
    }
    return Optional.empty();
  }

  /** What is done with a session. */
  @FunctionalInterface
  private interface Use<T> {
    T in(long session);
  }

  private <T> T inSession(TokenPin pin, Use<T> use) {
    synchronized (cryptoki) {
      if (starts != cryptoki.starts()) {
        forget(); // its number may be that of another token's session by now
      }
      boolean fresh = session.isEmpty();
      try {
        return use.in(opened(pin));
      } catch (Cryptoki.Failure e) {
        if (fresh || !CryptokiCodes.isLost(e.code)) {
          throw failed(e);
        }
      }
      close();
      try {
        return use.in(opened(pin));
      } catch (Cryptoki.Failure e) {
        throw failed(e);
      }
    }
  }

  private long opened(TokenPin pin) {
    if (session.isEmpty()) {
      if (cannotOpen) {
        startAnew();
      }
      try {
        session = Optional.of(open(pin));
        starts = cryptoki.starts();
        cannotOpen = false;
      } catch (Cryptoki.Failure e) {
        cannotOpen = true;
        throw e;
      }
    }
    return session.get();
  }

  private long open(TokenPin pin) {
    long made = cryptoki.open(slot);
    try {
      login(made, pin);
      return made;
    } catch (RuntimeException e) {
      cryptoki.close(made);
      throw e;
    }
  }

  /**
   * Some modules never see a token again that was away, until they are started anew; and it may be
   * in another slot.
   */
  private void startAnew() {
    cryptoki.restart();
    List<Cryptoki.Token> same =
        cryptoki.tokens().stream()
            .filter(t -> t.serial().equals(token.serial()) && t.label().equals(token.label()))
            .toList();
    if (same.size() == 1) {
      slot = same.getFirst().slot();
    }
  }

  private void login(long made, TokenPin pin) {
    if (!token.loginRequired()) {
      return;
    }
    // A token counts wrong PINs, and locks itself after a few.
    if (pinRefused) {
      throw new WritException(
          SignerError.TOKEN_PIN,
          token.label() + " refused it, and this process does not try again");
    }
    byte[] secret = token.ownPinPad() ? null : pin.of(token.label());
    try {
      cryptoki.login(made, secret);
    } catch (Cryptoki.Failure e) {
      if (e.code == CryptokiCodes.PIN_INCORRECT || e.code == CryptokiCodes.PIN_LOCKED) {
        pinRefused = true;
        throw new WritException(SignerError.TOKEN_PIN, e.getMessage(), e);
      }
      throw e;
    } finally {
      if (secret != null) {
        Arrays.fill(secret, (byte) 0);
      }
    }
  }

  private void close() {
    session.ifPresent(cryptoki::close);
    forget();
  }

  private void forget() {
    session = Optional.empty();
    known.clear();
  }

  private WritException failed(Cryptoki.Failure e) {
    close();
    return new WritException(SignerError.TOKEN_FAILED, token.label() + ": " + e.getMessage(), e);
  }
}
