package dev.writ.guardian.mandate;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.JwsKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.MandateDocument;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.mandate.MandateIssuer;
import dev.writ.guardian.policy.mandate.MandateTrust;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Verifies a mandate for one request, as spec/mandate.md says and in its order: form, issuer,
 * disclosures, terms, time, binding. The first that does not hold is the reason for which it does
 * not count.
 */
public final class Mandates {
  private static final Duration SKEW = Duration.ofSeconds(2);
  private static final long SECONDS_MAX = 253_402_300_799L; // the end of the year 9999
  private static final String BINDING_TYPE = "kb+jwt";
  private static final String DELEGATED = "delegate_payload";

  private final SdJwt presented;
  private final JsonValue.Obj claims;
  private final JsonValue.Obj content;

  private Mandates(SdJwt presented, JsonValue.Obj claims, JsonValue.Obj content) {
    this.presented = presented;
    this.claims = claims;
    this.content = content;
  }

  /**
   * @param envelope of type {@link MandateDocument#TYPE}; its own signature is the caller's
   *     business
   * @param time of the judgement
   */
  public static SeenMandate see(
      Envelope envelope, Request request, Optional<MandateTrust> trust, Instant time) {
    try {
      return verify(envelope, request, trust, time);
    } catch (WritException e) {
      if (e.code() instanceof GuardianError) {
        return new SeenMandate.Refused(envelope.id(), e.code().code());
      }
      throw e;
    }
  }

  /**
   * @throws WritException {@code GRD-620} to {@code GRD-625}
   */
  public static SeenMandate.Terms verify(
      Envelope envelope, Request request, Optional<MandateTrust> trust, Instant time) {
    SdJwt presented = SdJwt.parse(text(envelope));
    MandateIssuer issuer = issuer(presented.issued(), request.scope().tenant(), trust);
    JsonValue.Obj claims = Disclosed.payload(presented);
    Mandates mandate = new Mandates(presented, claims, content(claims));
    MandateTerms terms = MandateTerms.of(claims, mandate.content);
    String type = terms.type();
    Instant expiresAt = mandate.requireTime(time);
    mandate.requireBinding(request, trust.orElseThrow().audience(), time);
    return new SeenMandate.Terms(
        envelope.id(),
        Digest.sha256(presented.issued().signed()),
        issuer.name(),
        type,
        terms.currency(),
        terms.least(),
        terms.most(),
        terms.payees(),
        terms.total(),
        terms.uses(),
        expiresAt);
  }

  private static String text(Envelope envelope) {
    try {
      return MandateDocument.read(envelope.document()).mandate();
    } catch (WritException e) {
      throw new WritException(GuardianError.MANDATE_FORM, e.code().code(), e);
    }
  }

  private static MandateIssuer issuer(Jws issued, String tenant, Optional<MandateTrust> trust) {
    JsonValue iss = issued.payload().get("iss");
    return trust.map(t -> t.of(tenant)).orElse(List.of()).stream()
        .filter(one -> one.iss().filter(name -> !JsonValue.of(name).equals(iss)).isEmpty())
        .filter(one -> issued.isSignedBy(one.key()))
        .findFirst()
        .orElseThrow(
            () -> new WritException(GuardianError.MANDATE_ISSUER, "tenant \"" + tenant + "\""));
  }

  /** AP2 wraps what is delegated into a list; elsewhere the claims themselves are the mandate. */
  private static JsonValue.Obj content(JsonValue.Obj claims) {
    JsonValue delegated = claims.get(DELEGATED);
    if (delegated == null) {
      return claims;
    }
    if (delegated instanceof JsonValue.Arr list
        && list.items().size() == 1
        && list.items().getFirst() instanceof JsonValue.Obj content) {
      return content;
    }
    throw new WritException(
        GuardianError.MANDATE_LIMIT, DELEGATED + " without exactly one disclosed object");
  }

  private Instant requireTime(Instant now) {
    Stream.of("nbf", "iat")
        .flatMap(this::stated)
        .forEach(from -> {
          if (from.minus(SKEW).isAfter(now)) {
            throw new WritException(GuardianError.MANDATE_TIME, "from " + from + " on");
          }
        });
    Instant end =
        stated("exp")
            .min(Instant::compareTo)
            .orElseThrow(() -> new WritException(GuardianError.MANDATE_TIME, "it has no end"));
    if (!now.isBefore(end)) {
      throw new WritException(GuardianError.MANDATE_TIME, "until " + end);
    }
    return end;
  }

  /** A time of the claims, and of what is delegated in them. */
  private Stream<Instant> stated(String name) {
    return Stream.of(claims, content)
        .map(object -> object.get(name))
        .filter(value -> value != null)
        .map(value -> seconds(name, value, GuardianError.MANDATE_TIME));
  }

  private static Instant seconds(String name, JsonValue value, GuardianError code) {
    if (value instanceof JsonValue.Num number
        && number.isInteger()
        && number.value() >= 0
        && number.value() <= SECONDS_MAX) {
      return Instant.ofEpochSecond((long) number.value());
    }
    throw new WritException(code, name + " is no whole number of seconds since 1970");
  }

  private void requireBinding(Request request, String audience, Instant now) {
    bound(!presented.holder().isEmpty(), "no key binding JWT");
    JwsKey key = holder();
    Jws binding =
        Jws.parse("the key binding JWT", presented.holder(), GuardianError.MANDATE_BINDING);
    bound(binding.stated("typ").equals(BINDING_TYPE), "a typ that is not " + BINDING_TYPE);
    bound(is(binding, "aud", audience), "an audience that is not " + audience);
    bound(
        is(binding, "nonce", MandateDocument.challenge(request)),
        "a nonce that is not the request's challenge");
    bound(
        is(binding, "sd_hash", SdJwt.digest(presented.presented())),
        "an sd_hash of something else");
    JsonValue at = binding.payload().get("iat");
    bound(at != null, "no iat");
    Instant made = seconds("iat", at, GuardianError.MANDATE_BINDING);
    bound(!made.minus(SKEW).isAfter(now), "an iat that is in the future");
    bound(binding.isSignedBy(key), "another key than the mandate names");
  }

  private static boolean is(Jws jws, String member, String wanted) {
    return JsonValue.of(wanted).equals(jws.payload().get(member));
  }

  private JwsKey holder() {
    JsonValue confirmed = Optional.ofNullable(content.get("cnf")).orElse(claims.get("cnf"));
    bound(
        confirmed instanceof JsonValue.Obj cnf && cnf.get("jwk") != null,
        "no cnf with a jwk, so that anybody could use it");
    try {
      return JwsKey.fromJwk(((JsonValue.Obj) confirmed).get("jwk"));
    } catch (WritException e) {
      throw new WritException(GuardianError.MANDATE_BINDING, "cnf: " + e.code().code(), e);
    }
  }

  private static void bound(boolean holds, String found) {
    if (!holds) {
      throw new WritException(GuardianError.MANDATE_BINDING, found);
    }
  }
}
