package dev.writ.console.oidc;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.List;
import java.util.function.Supplier;

/**
 * Signatures of a provider. Algorithms come from a list of ours, which has none that is symmetric:
 * whoever has a public key could sign by those. Keys come from the provider's set alone, never from
 * a token's head.
 */
final class Signatures {
  private static final List<JWSAlgorithm> ALGORITHMS =
      List.of(
          JWSAlgorithm.RS256,
          JWSAlgorithm.RS384,
          JWSAlgorithm.RS512,
          JWSAlgorithm.PS256,
          JWSAlgorithm.PS384,
          JWSAlgorithm.PS512,
          JWSAlgorithm.ES256,
          JWSAlgorithm.ES384,
          JWSAlgorithm.ES512);

  private static final int RSA_BITS_MIN = 2048;

  /** Tried for one token, where it names no key. */
  private static final int KEYS_MAX = 16;

  private Signatures() {}

  /**
   * @throws WritException {@code GWY-135}
   */
  static JWKSet keys(JsonValue.Obj document) {
    try {
      return JWKSet.parse(new String(Jcs.write(document), StandardCharsets.UTF_8)).toPublicJWKSet();
    } catch (ParseException e) {
      throw new WritException(OidcError.UNREACHED, "its keys cannot be read", e);
    }
  }

  /**
   * What a token says, once its signature is verified.
   *
   * @param newer the provider's keys, asked for where none of the known ones has signed it
   * @throws WritException {@code GWY-137}
   */
  static JsonValue.Obj verified(String token, JWKSet known, Supplier<JWKSet> newer) {
    JWSObject signed = parse(token);
    JWSHeader head = signed.getHeader();
    if (!ALGORITHMS.contains(head.getAlgorithm())) {
      throw refused("its algorithm is none of those that are taken");
    }
    if (head.getType() != null && !head.getType().getType().equalsIgnoreCase("JWT")) {
      throw refused("it is a token of another kind");
    }
    // A token may name no key, or a new one by a former one's name: asked of whom it names, both
    // would be refused until the known keys are too old.
    if (!isSigned(signed, known) && !isSigned(signed, newer.get())) {
      throw refused("no key of the provider has signed it");
    }
    return claims(signed);
  }

  private static JWSObject parse(String token) {
    try {
      return JWSObject.parse(token); // refuses the algorithm none
    } catch (ParseException | IllegalArgumentException e) {
      throw new WritException(OidcError.TOKEN, "it is no signed token", e);
    }
  }

  private static boolean isSigned(JWSObject signed, JWKSet by) {
    return keys(by, signed.getHeader()).stream().anyMatch(key -> isSigner(key, signed));
  }

  private static List<JWK> keys(JWKSet all, JWSHeader head) {
    return new JWKSelector(JWKMatcher.forJWSHeader(head))
        .select(all).stream().limit(KEYS_MAX).toList();
  }

  private static boolean isSigner(JWK key, JWSObject signed) {
    try {
      return switch (key) {
        case RSAKey rsa -> rsa.size() >= RSA_BITS_MIN && signed.verify(new RSASSAVerifier(rsa));
        case ECKey curve -> signed.verify(new ECDSAVerifier(curve));
        default -> false;
      };
    } catch (JOSEException e) {
      return false;
    }
  }

  private static JsonValue.Obj claims(JWSObject signed) {
    JsonValue stated;
    try {
      stated = Jcs.parse(signed.getPayload().toBytes());
    } catch (WritException e) {
      throw new WritException(OidcError.TOKEN, "what it states is no JSON", e);
    }
    if (stated instanceof JsonValue.Obj object) {
      return object;
    }
    throw refused("what it states is no object");
  }

  static WritException refused(String found) {
    return new WritException(OidcError.TOKEN, found);
  }
}
