package dev.writ.canonicalize.dsse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.crypto.Refused;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An envelope that this process signed knows that its signatures hold. Everything else about it is
 * judged as if it had come from outside: each case runs with what was signed here, and with the
 * same bytes read again.
 */
class OwnSignaturesNeedNoCurveTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");
  private static final Instant END = Instant.parse("2027-01-01T00:00:00Z");
  private static final String DECISION = PayloadTypes.of("decision");
  private static final JsonValue DOCUMENT = JsonValue.object().put("a", 1).build();

  private final SigningKey guardian = key(1);
  private final SigningKey stranger = key(2);
  private final Trust trust = Trust.of(List.of(enrolled(guardian, KeyRole.GUARDIAN)));

  /** Whether the envelope still knows who signed it. */
  enum Known {
    SIGNED_HERE(envelope -> envelope),
    READ_FROM_BYTES(envelope -> Envelope.parse(envelope.toBytes()));

    final UnaryOperator<Envelope> as;

    Known(UnaryOperator<Envelope> as) {
      this.as = as;
    }
  }

  private static SigningKey key(int n) {
    byte[] seed = new byte[SigningKey.SEED_LENGTH];
    seed[0] = (byte) n;
    return SigningKey.ed25519(seed);
  }

  private static TrustedKey enrolled(SigningKey key, KeyRole role) {
    return new TrustedKey(
        key.verifyingKey(), role, Optional.empty(), "g", BEGIN, Optional.of(END), Optional.empty());
  }

  private Envelope signed(Known known, SigningKey... keys) {
    return known.as.apply(Envelope.sign(DECISION, DOCUMENT, keys));
  }

  @ParameterizedTest
  @EnumSource
  void a_good_one_is_taken_and_says_the_same(Known known) {
    Envelope envelope = signed(known, guardian);
    assertThat(trust.verify(envelope, DECISION, NOW)).hasSize(1);
    assertThat(envelope.document()).isEqualTo(DOCUMENT);
    assertThat(Envelope.parse(envelope.toBytes()).toBytes()).isEqualTo(envelope.toBytes());
  }

  @ParameterizedTest
  @EnumSource
  void a_key_that_was_revoked_after_it_signed_is_refused(Known known) {
    Envelope envelope = signed(known, guardian);
    trust.verify(envelope, DECISION, NOW);
    Trust revoked = trust.withRevoked(guardian.kid(), NOW);
    Refused.with(CanonicalizeError.KEY_REVOKED, () -> revoked.verify(envelope, DECISION, NOW));
  }

  @ParameterizedTest
  @EnumSource
  void so_is_one_outside_its_window_an_unknown_one_and_one_of_another_role(Known known) {
    Envelope envelope = signed(known, guardian);
    for (Instant at : List.of(BEGIN.minusMillis(1), END)) {
      Refused.with(CanonicalizeError.KEY_WINDOW, () -> trust.verify(envelope, DECISION, at));
    }
    Refused.with(
        CanonicalizeError.KEY_UNKNOWN, () -> Trust.of(List.of()).verify(envelope, DECISION, NOW));
    Trust executors = Trust.of(List.of(enrolled(guardian, KeyRole.EXECUTOR)));
    Refused.with(CanonicalizeError.KEY_ROLE, () -> executors.verify(envelope, DECISION, NOW));
    Refused.with(
        CanonicalizeError.PAYLOAD_TYPE,
        () -> trust.verify(envelope, PayloadTypes.of("intent"), NOW));
  }

  @ParameterizedTest
  @EnumSource
  void a_signature_of_another_key_does_not_hold_under_this_one(Known known) {
    Envelope strangers = signed(known, stranger);
    Refused.with(CanonicalizeError.KEY_UNKNOWN, () -> trust.verify(strangers, DECISION, NOW));
    Refused.with(
        CanonicalizeError.SIGNATURE_INVALID,
        () -> strangers.verifySignatures(List.of(guardian.verifyingKey())));
    strangers.verifySignatures(List.of(stranger.verifyingKey()));
    Refused.with(
        CanonicalizeError.SIGNATURE_INVALID,
        () -> strangers.verifySignatures(List.of(guardian.verifyingKey())));
  }

  @ParameterizedTest
  @EnumSource
  void other_bytes_under_a_signature_that_was_made_here_are_refused(Known known) {
    String text = new String(signed(known, guardian).toBytes(), StandardCharsets.US_ASCII);
    Envelope other = Envelope.sign(DECISION, JsonValue.object().put("a", 2).build(), guardian);
    String payload = new String(other.toBytes(), StandardCharsets.US_ASCII);
    String mixed =
        payload.substring(0, payload.indexOf("\"payloadType\""))
            + text.substring(text.indexOf("\"payloadType\""));
    Refused.with(
        CanonicalizeError.SIGNATURE_INVALID,
        () ->
            trust.verify(Envelope.parse(mixed.getBytes(StandardCharsets.US_ASCII)), DECISION, NOW));
  }

  @ParameterizedTest
  @EnumSource
  void each_of_two_signatures_holds_under_its_own_key(Known known) {
    Envelope both = signed(known, guardian, stranger);
    boolean guardianFirst = guardian.kid().compareTo(stranger.kid()) < 0;
    SigningKey first = guardianFirst ? guardian : stranger;
    SigningKey second = guardianFirst ? stranger : guardian;
    both.verifySignatures(List.of(first.verifyingKey(), second.verifyingKey()));
    Refused.with(
        CanonicalizeError.SIGNATURE_INVALID,
        () -> both.verifySignatures(List.of(second.verifyingKey(), first.verifyingKey())));
  }

  @ParameterizedTest
  @EnumSource
  void changing_what_was_handed_in_or_out_changes_nothing(Known known) {
    byte[] payload = "{}".getBytes(StandardCharsets.US_ASCII);
    Envelope envelope = known.as.apply(Envelope.signBytes(DECISION, payload, guardian));
    payload[0] = '[';
    envelope.payload()[0] = '[';
    envelope.signatures().getFirst().bytes()[0] ^= 1;
    assertThat(trust.verify(Envelope.parse(envelope.toBytes()), DECISION, NOW)).hasSize(1);
    assertThat(envelope.document()).isEqualTo(JsonValue.object().build());
  }

  /** What no reader would take is not taken because it was written here. */
  @ParameterizedTest
  @EnumSource
  void a_document_that_is_too_deep_is_refused_when_it_is_read(Known known) {
    JsonValue deep = JsonValue.TRUE;
    for (int i = 0; i < 129; i++) {
      deep = JsonValue.of(List.of(deep));
    }
    Envelope envelope = known.as.apply(Envelope.sign(DECISION, deep, guardian));
    Refused.with(CanonicalizeError.TOO_DEEP, envelope::document);
    JsonValue fits = ((JsonValue.Arr) deep).items().getFirst();
    Envelope readable = known.as.apply(Envelope.sign(DECISION, fits, guardian));
    assertThat(readable.document()).isNotNull();
  }

  /** A payload that is no document can be signed as bytes, and still is none. */
  @ParameterizedTest
  @EnumSource
  void bytes_that_are_no_document_are_refused_when_they_are_read(Known known) {
    Envelope envelope =
        known.as.apply(
            Envelope.signBytes(DECISION, "{ }".getBytes(StandardCharsets.US_ASCII), guardian));
    trust.verify(envelope, DECISION, NOW);
    Refused.with(CanonicalizeError.NOT_CANONICAL, envelope::document);
    assertThat(envelope.id())
        .isEqualTo(known.as.apply(envelope).id())
        .isNotEqualTo(signed(known, guardian).id());
  }
}
