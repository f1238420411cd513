package dev.writ.canonicalize.trust;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Comparing;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.SignatureCheck;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import org.pcollections.PSortedMap;
import org.pcollections.TreePMap;

/**
 * The enrolled keys: who may sign what, and with which algorithms. Immutable; its file is a JWK Set
 * (RFC 7517, 5) with members of ours (spec/keys.md).
 */
public final class Trust {
  /** What a role requires where trust does not say otherwise. */
  public static final List<Algorithm> DEFAULT_REQUIRED = List.of(Algorithm.ED25519);

  private static final String REQUIRED = "writ_required_algorithms";

  // Persistent maps: each change of a key is a new trust, an installation may have 100,000 keys,
  // and who judges a log again keeps the trust of several of its changes.
  private final PSortedMap<String, TrustedKey> keys;
  private final PSortedMap<KeyRole, List<Algorithm>> required;

  private Trust(
      PSortedMap<String, TrustedKey> keys, PSortedMap<KeyRole, List<Algorithm>> required) {
    this.keys = keys;
    this.required = required;
  }

  /**
   * @throws WritException {@code CAN-056} where a key is there twice
   */
  public static Trust of(Collection<TrustedKey> keys) {
    TreeMap<String, TrustedKey> byId = new TreeMap<>();
    for (TrustedKey key : keys) {
      if (byId.put(key.kid(), key) != null) {
        throw twice(key.kid());
      }
    }
    return new Trust(TreePMap.fromSortedMap(byId), TreePMap.empty());
  }

  /**
   * Reads a trust file. It need not be canonical: people may write it.
   *
   * @throws WritException {@code CAN-0xx} for anything but a JWK Set with our members
   */
  public static Trust parse(byte[] file) {
    return fromJson(Jcs.parse(file));
  }

  /**
   * Reads the value that {@link #toJson} gives.
   *
   * @throws WritException as {@link #parse}
   */
  public static Trust fromJson(JsonValue value) {
    Fields fields = Fields.of("trust", value);
    List<TrustedKey> keys = fields.list("keys", TrustedKey::fromJson);
    TreeMap<KeyRole, List<Algorithm>> required = new TreeMap<>();
    if (fields.has(REQUIRED)) {
      Fields roles = fields.fields(REQUIRED);
      for (KeyRole role : KeyRole.ALL) {
        roles
            .optional(role.text(), key -> roles.list(key, Trust::algorithm))
            .ifPresent(list -> required.put(role, checked(role, list)));
      }
      roles.end();
    }
    fields.end();
    return new Trust(of(keys).keys, TreePMap.fromSortedMap(required));
  }

  private static Algorithm algorithm(String path, JsonValue value) {
    String found = Fields.stringItem(path, value);
    return Algorithm.ALL.stream()
        .filter(algorithm -> algorithm.text().equals(found))
        .findFirst()
        .orElseThrow(() ->
            new WritException(
                CanonicalizeError.FIELD_VALUE,
                path + " is none of " + Algorithm.ALL.stream().map(Algorithm::text).toList()));
  }

  /** In the order of their declaration, at least one, none twice. */
  private static List<Algorithm> checked(KeyRole role, List<Algorithm> algorithms) {
    TreeSet<Algorithm> sorted = new TreeSet<>(algorithms);
    if (sorted.isEmpty() || sorted.size() != algorithms.size()) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "the required algorithms of " + role.text() + " must be at least one and each once");
    }
    return List.copyOf(sorted);
  }

  /** The trust file; {@link Jcs#write} gives its bytes, which are the same for equal trust. */
  public JsonValue.Obj toJson() {
    var file = JsonValue.object().putList("keys", List.copyOf(keys.values()), TrustedKey::toJson);
    if (!required.isEmpty()) {
      var roles = JsonValue.object();
      required.forEach(
          (role, list) -> roles.putList(role.text(), list, a -> JsonValue.of(a.text())));
      file.put(REQUIRED, roles.build());
    }
    return file.build();
  }

  /** All keys, by key id. */
  public SortedMap<String, TrustedKey> keys() {
    return keys;
  }

  public Optional<TrustedKey> key(String kid) {
    return Optional.ofNullable(keys.get(kid));
  }

  /**
   * The algorithms that every signer of that role must have signed with. Where trust does not name
   * the role, others may stand in place of Ed25519, as {@link #isSigned} says.
   */
  public List<Algorithm> requiredAlgorithms(KeyRole role) {
    return required.getOrDefault(role, DEFAULT_REQUIRED);
  }

  /**
   * What a signature counts as. Where this trust does not say what a role signs with, an ES256 key
   * stands in place of an Ed25519 one, and so does a passkey, which only roles of people have
   * (spec/keys.md, 7).
   */
  private Algorithm inPlaceOf(KeyRole role, Algorithm algorithm) {
    if (required.containsKey(role)) {
      return algorithm;
    }
    return switch (algorithm) {
      case ES256, WEBAUTHN -> Algorithm.ED25519;
      case ED25519, ML_DSA_65 -> algorithm;
    };
  }

  /**
   * Whether a document that was signed with these algorithms has a signature that the role requires
   * of this one.
   */
  public boolean isSigned(KeyRole role, Algorithm algorithm, Collection<Algorithm> signed) {
    return signed.stream().anyMatch(other -> inPlaceOf(role, other) == algorithm);
  }

  /**
   * This trust with one key more.
   *
   * @throws WritException {@code CAN-056} where it is enrolled already, in whatever role
   */
  public Trust withKey(TrustedKey key) {
    if (keys.containsKey(key.kid())) {
      throw twice(key.kid());
    }
    return replacing(key);
  }

  /**
   * This trust with a key revoked. It stays in the file, for what it signed before.
   *
   * @throws WritException {@code CAN-052} for an unknown key, {@code CAN-055} where it is revoked
   *     already: a revocation is never moved
   */
  public Trust withRevoked(String kid, Instant at) {
    TrustedKey key = enrolled(kid);
    requireNotRevoked(key);
    return replacing(key.withRevokedAt(at));
  }

  /**
   * This trust as if a key had not been revoked: what was under way at its revocation still knew it
   * so.
   *
   * @throws WritException {@code CAN-052} for an unknown key
   */
  public Trust beforeRevocation(String kid) {
    return replacing(enrolled(kid).withoutRevocation());
  }

  /**
   * This trust with the end of a key's validity set, as rotation does with the former key.
   *
   * @throws WritException {@code CAN-052} for an unknown key; {@code CAN-054} where that would
   *     lengthen its validity; {@code CAN-023} where it would end before it begins
   */
  public Trust withNotAfter(String kid, Instant end) {
    TrustedKey key = enrolled(kid);
    if (key.notAfter().filter(end::isAfter).isPresent()) {
      throw new WritException(
          CanonicalizeError.KEY_WINDOW,
          "key " + kid + " ends at " + key.notAfter().get() + " and cannot end later, at " + end);
    }
    return replacing(key.withNotAfter(end));
  }

  /**
   * This trust with other required algorithms for a role.
   *
   * @throws WritException {@code CAN-023} for an empty list or an algorithm twice
   */
  public Trust withRequiredAlgorithms(KeyRole role, List<Algorithm> algorithms) {
    return new Trust(keys, required.plus(role, checked(role, algorithms)));
  }

  private Trust replacing(TrustedKey key) {
    return new Trust(keys.plus(key.kid(), key), required);
  }

  /**
   * Verifies every signature of an envelope, live: each by a known key, valid at that time and not
   * revoked, all of one holder whose role may sign this payload type, with every algorithm that the
   * role requires. It is also the rule for what is in no log: being unlogged is being not before
   * any revocation (protocol rule 25).
   *
   * @return the signing keys, one for each algorithm: first those of the required algorithms, in
   *     the order of {@link Algorithm}. So the first names the holder, and no signature that
   *     somebody adds or strips changes which key that is; never empty
   * @throws WritException {@code CAN-052} to {@code CAN-055} and {@code CAN-06x} for the first
   *     failed check; cheap checks come before the signatures
   */
  public List<TrustedKey> verify(Envelope envelope, String payloadType, Instant at) {
    return verify(envelope, payloadType, at, SignatureCheck.SINGLY);
  }

  /**
   * The same.
   *
   * @param check verifies the signatures, when everything else was found right
   */
  public List<TrustedKey> verify(
      Envelope envelope, String payloadType, Instant at, SignatureCheck check) {
    return verify(
        envelope,
        payloadType,
        key -> {
          requireValid(key, at);
          requireNotRevoked(key);
        },
        check);
  }

  /**
   * Verifies every signature of an envelope that a log holds: as {@link #verify}, but a revoked key
   * still counts where the document comes before the key's revocation in the log. The required
   * algorithms are this trust's; across a change of them, pass the trust that was in force.
   *
   * @param position where the log holds the document, which the caller has verified
   * @param revocations the log index of a key's revocation, by key id; empty where the log has none
   * @return the signing keys, as {@link #verify}
   * @throws WritException as {@link #verify}
   */
  public List<TrustedKey> verifyLogged(
      Envelope envelope,
      String payloadType,
      LogPosition position,
      Function<String, Optional<Long>> revocations) {
    return verify(
        envelope,
        payloadType,
        key -> {
          requireValid(key, position.at());
          Optional<Long> revoked = revocations.apply(key.kid());
          if (revoked.isEmpty()) {
            // Revoked, but not in this log: nothing shows what came before.
            requireNotRevoked(key);
          } else if (position.index() >= revoked.get()) {
            throw new WritException(
                CanonicalizeError.KEY_REVOKED,
                "key "
                    + key.kid()
                    + " at log index "
                    + revoked.get()
                    + ", the document is at "
                    + position.index());
          }
        },
        SignatureCheck.SINGLY);
  }

  private List<TrustedKey> verify(
      Envelope envelope,
      String payloadType,
      Consumer<TrustedKey> requireInForce,
      SignatureCheck check) {
    if (!envelope.payloadType().equals(payloadType)) {
      throw new WritException(
          CanonicalizeError.PAYLOAD_TYPE, envelope.payloadType() + " instead of " + payloadType);
    }
    List<TrustedKey> signers = new ArrayList<>();
    for (Envelope.Signature signature : envelope.signatures()) {
      TrustedKey signer = enrolled(signature.kid());
      if (!signer.role().maySign(payloadType)) {
        throw new WritException(
            CanonicalizeError.KEY_ROLE,
            "key " + signer.kid() + " of role " + signer.role().text() + ", " + payloadType);
      }
      requireInForce.accept(signer);
      signers.add(signer);
    }
    requireOneHolder(signers);
    requireAlgorithms(signers);
    List<VerifyingKey> verifying = new ArrayList<>(signers.size());
    signers.forEach(signer -> verifying.add(signer.key()));
    check.verify(envelope, verifying);
    List<Algorithm> required = requiredAlgorithms(signers.getFirst().role());
    signers.sort(
        Comparing.by(
            Comparing.by(key -> !required.contains(inPlaceOf(key))),
            Comparing.by(key -> key.key().algorithm())));
    return List.copyOf(signers);
  }

  /**
   * With two holders on one document it would be open whose document it is, and anybody who saw the
   * first holder's could add a signature. With two keys of one algorithm it would be open which of
   * them is the holder's.
   */
  private void requireOneHolder(List<TrustedKey> signers) {
    TreeMap<Algorithm, TrustedKey> byAlgorithm = new TreeMap<>();
    TrustedKey first = signers.getFirst();
    for (TrustedKey signer : signers) {
      if (!signer.sameHolder(first)) {
        throw new WritException(
            CanonicalizeError.SIGNERS_DIFFER, "keys " + first.kid() + " and " + signer.kid());
      }
      TrustedKey other = byAlgorithm.put(inPlaceOf(signer), signer);
      if (other != null) {
        throw new WritException(
            CanonicalizeError.SIGNATURE_TWICE, "keys " + other.kid() + " and " + signer.kid());
      }
    }
  }

  private void requireAlgorithms(List<TrustedKey> signers) {
    KeyRole role = signers.getFirst().role();
    for (Algorithm algorithm : requiredAlgorithms(role)) {
      if (signers.stream().noneMatch(signer -> inPlaceOf(signer) == algorithm)) {
        throw new WritException(
            CanonicalizeError.SIGNATURE_MISSING,
            "role " + role.text() + " requires " + algorithm.text());
      }
    }
  }

  /**
   * The same of a key. One that may stand in place of an Ed25519 key does not stand beside one: it
   * would be open which of them is the holder's.
   */
  private Algorithm inPlaceOf(TrustedKey key) {
    return inPlaceOf(key.role(), key.key().algorithm());
  }

  private TrustedKey enrolled(String kid) {
    TrustedKey key = keys.get(kid);
    if (key == null) {
      throw new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + kid);
    }
    return key;
  }

  private static void requireValid(TrustedKey key, Instant at) {
    if (!key.isValidAt(at)) {
      throw new WritException(
          CanonicalizeError.KEY_WINDOW,
          "key "
              + key.kid()
              + " is valid from "
              + key.notBefore()
              + key.notAfter().map(end -> " to " + end).orElse("")
              + ", the time is "
              + at);
    }
  }

  private static void requireNotRevoked(TrustedKey key) {
    if (key.revokedAt().isPresent()) {
      throw new WritException(
          CanonicalizeError.KEY_REVOKED, "key " + key.kid() + " at " + key.revokedAt().get());
    }
  }

  private static WritException twice(String kid) {
    return new WritException(CanonicalizeError.KEY_TWICE, "key " + kid);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Trust that && keys.equals(that.keys) && required.equals(that.required);
  }

  @Override
  public int hashCode() {
    return 31 * keys.hashCode() + required.hashCode();
  }
}
