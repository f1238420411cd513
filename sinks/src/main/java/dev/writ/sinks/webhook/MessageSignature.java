package dev.writ.sinks.webhook;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.crypto.SigningKey;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Signs a POST by HTTP Message Signatures (RFC 9421, ed25519) over its method, its address, its
 * media type and its Content-Digest (RFC 9530). The address is signed so that the receiver of one
 * message cannot send it on to another as its own.
 */
final class MessageSignature {
  /** How long a signature may be believed; a later attempt has one of its own. */
  private static final Duration VALID = Duration.ofMinutes(5);

  private MessageSignature() {}

  /** The headers that make the message a signed one, Content-Type among them. */
  static SortedMap<String, String> headers(
      SigningKey key, URI url, String tag, byte[] body, Instant at) {
    String digest = "sha-256=:" + StrictBase64.encode(Digest.sha256(body).bytes()) + ":";
    String parameters =
        "(\"@method\" \"@target-uri\" \"content-type\" \"content-digest\");created="
            + at.getEpochSecond()
            + ";expires="
            + at.plus(VALID).getEpochSecond()
            + ";keyid=\""
            + key.kid()
            + "\";alg=\"ed25519\";tag=\""
            + tag
            + "\"";
    String base =
        "\"@method\": POST\n\"@target-uri\": "
            + url
            + "\n\"content-type\": "
            + CloudEvent.MEDIA_TYPE
            + "\n\"content-digest\": "
            + digest
            + "\n\"@signature-params\": "
            + parameters;
    byte[] signature = key.sign(base.getBytes(StandardCharsets.US_ASCII));
    TreeMap<String, String> headers = new TreeMap<>();
    headers.put("Content-Type", CloudEvent.MEDIA_TYPE);
    headers.put("Content-Digest", digest);
    headers.put("Signature-Input", "writ=" + parameters);
    headers.put("Signature", "writ=:" + StrictBase64.encode(signature) + ":");
    return Collections.unmodifiableSortedMap(headers);
  }
}
