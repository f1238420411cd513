package dev.writ.gateway.v1;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Kernel;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads the bodies of calls to the native API. */
final class Bodies {
  private static final byte[] ENVELOPE_BEGIN = "{\"payload\"".getBytes(StandardCharsets.US_ASCII);

  private Bodies() {}

  /** A signed request, with the documents that it names as evidence. */
  record Submission(Envelope request, List<Envelope> evidence) {}

  /** An envelope as it is, or {@code {"request":…,"evidence":[…]}}. */
  static Submission submission(HttpCall call) {
    requireJson(call);
    byte[] body = call.body();
    if (body.length >= ENVELOPE_BEGIN.length
        && Arrays.equals(
            body, 0, ENVELOPE_BEGIN.length, ENVELOPE_BEGIN, 0, ENVELOPE_BEGIN.length)) {
      return new Submission(weighed(call, Envelope.parse(body)), List.of());
    }
    Fields fields = Fields.of("body", Jcs.parse(body));
    Submission submission =
        new Submission(
            envelope(call, fields, "request"),
            fields
                .optional("evidence", key -> fields.list(key, (_, v) -> envelope(call, v)))
                .orElse(List.of()));
    fields.end();
    return submission;
  }

  static Envelope envelope(HttpCall call, Fields fields, String key) {
    return envelope(call, fields.value(key));
  }

  private static Envelope envelope(HttpCall call, JsonValue value) {
    return weighed(call, Envelope.parse(Jcs.write(value)));
  }

  /** Takes the memory for the payload, too. */
  private static Envelope weighed(HttpCall call, Envelope envelope) {
    call.admission().weigh(envelope.payload());
    return envelope;
  }

  /** One envelope, alone. */
  static Envelope envelope(HttpCall call) {
    requireJson(call);
    return weighed(call, Envelope.parse(call.body()));
  }

  /** Requires JSON: other media types can be sent by any web page without a preflight. */
  static void requireJson(HttpCall call) {
    String type =
        call.headers()
            .one("content-type")
            .orElse("")
            .split(";", 2)[0]
            .strip()
            .toLowerCase(Locale.ROOT);
    if (!type.equals("application/json") && !type.endsWith("+json")) {
      throw new WritException(
          GatewayError.MEDIA_TYPE, "\"" + shown(type) + "\" instead of application/json");
    }
  }

  private static String shown(String text) {
    return text.length() > 60 ? text.substring(0, 60) + "…" : text;
  }

  /**
   * Verifies the signatures of an envelope, and counts the call as the signer's. Whether the key
   * may sign it is checked by the kernel.
   *
   * @throws WritException {@code CAN-052}, {@code CAN-06x}; {@code GWY-025} to {@code GWY-027},
   *     {@code GWY-035}, {@code GWY-038}
   */
  static TrustedKey admit(HttpCall call, Envelope envelope, Kernel kernel) {
    Trust trust = kernel.system().trust();
    List<TrustedKey> signers =
        envelope.signatures().stream().map(signature -> key(trust, signature.kid())).toList();
    kernel.verifySignatures(envelope, signers.stream().map(TrustedKey::key).toList());
    TrustedKey signer = signers.getFirst();
    call.admission().admit(signer.tenant().orElse(""), "key " + signer.kid());
    return signer;
  }

  private static TrustedKey key(Trust trust, String kid) {
    return trust
        .key(kid)
        .orElseThrow(() -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + kid));
  }

  /** Requires that an idempotency key in the header equals the one in the signed request. */
  static void requireSameKey(HttpCall call, Envelope request) {
    Optional<String> signed =
        request.document() instanceof JsonValue.Obj document
                && document.get("idempotency_key") instanceof JsonValue.Str key
            ? Optional.of(key.value())
            : Optional.empty();
    requireSameKey(call, signed);
  }

  /**
   * The same for a request that is still to be signed, with that key.
   *
   * @throws WritException {@code GWY-031}
   */
  static void requireSameKey(HttpCall call, Optional<String> signed) {
    Optional<String> header = call.headers().one("idempotency-key");
    if (header.isPresent() && !header.equals(signed)) {
      throw new WritException(
          GatewayError.IDEMPOTENCY_KEY,
          signed.isEmpty() ? "the request signs none" : "the request signs another");
    }
  }

  static Digest id(HttpCall call, String name) {
    return Digest.parse(call.value(name));
  }

  /** A query parameter that may stand once. */
  static Optional<String> parameter(HttpCall call, String name) {
    List<String> values = call.query().getOrDefault(name, List.of());
    if (values.size() > 1) {
      throw new WritException(GatewayError.PARAMETER, name + " stands several times");
    }
    return values.stream().findFirst();
  }

  /** A number that is not negative. */
  static Optional<Long> number(HttpCall call, String name) {
    return parameter(call, name)
        .map(text -> {
          if (!text.matches("[0-9]{1,15}")) {
            throw new WritException(GatewayError.PARAMETER, name + " is no number");
          }
          return Long.parseLong(text);
        });
  }

  static long requiredNumber(HttpCall call, String name) {
    return number(call, name)
        .orElseThrow(() -> new WritException(GatewayError.PARAMETER, name + " is missing"));
  }
}
