package dev.writ.client;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.error.ClientError;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;

/**
 * The outcome of a request: its documents are signed by pinned keys and are about that request.
 *
 * @param receipt present where the effect was dispatched
 * @param output the output's bytes, whose digest the receipt states; absent where the answer did
 *     not carry them
 */
public record VerifiedOutcome(
    Decision decision, Optional<Receipt> receipt, Optional<byte[]> output) {

  /**
   * @throws WritException {@code CAN-05x}, {@code CAN-06x} for signatures, {@code GWY-062} where it
   *     is about something else
   */
  public static VerifiedOutcome of(
      JsonValue.Obj answer, Envelope request, Trust trust, Instant now) {
    Envelope decisionEnvelope = verified(answer, "decision", Decision.TYPE, trust, now);
    Decision decision = Decision.read(decisionEnvelope.document());
    Request asked = Request.read(request.document());
    Digest effect = asked.effect().digest();
    // Under an idempotency key the stored outcome may be another request's, for the same effect.
    require(
        asked.idempotencyKey().isPresent() || decision.request().equals(request.id()),
        "the decision is on another request");
    require(decision.effect().equals(effect), "the decision is on another effect");
    Optional<Receipt> receipt = Optional.empty();
    if (answer.get("receipt") != null) {
      Receipt read = Receipt.read(verified(answer, "receipt", Receipt.TYPE, trust, now).document());
      require(read.effect().equals(effect), "the receipt is of another effect");
      require(read.request().equals(decision.request()), "the receipt is of another request");
      require(read.decision().equals(decisionEnvelope.id()), "the receipt is of another decision");
      receipt = Optional.of(read);
    }
    return new VerifiedOutcome(
        decision, receipt, receipt.flatMap(Receipt::output).flatMap(c -> output(answer, c)));
  }

  private static Envelope verified(
      JsonValue.Obj answer, String key, String type, Trust trust, Instant now) {
    JsonValue value = answer.get(key);
    require(value != null, "it has no " + key);
    Envelope envelope = Envelope.parse(Jcs.write(value));
    trust.verify(envelope, type, now);
    return envelope;
  }

  private static Optional<byte[]> output(JsonValue.Obj answer, Content stated) {
    if (!(answer.get("output") instanceof JsonValue.Obj output)) {
      return Optional.empty();
    }
    Optional<byte[]> bytes = bytes(output);
    bytes.ifPresent(
        b -> require(Digest.sha256(b).equals(stated.digest()), "the output is not the receipt's"));
    return bytes;
  }

  private static Optional<byte[]> bytes(JsonValue.Obj output) {
    if (output.get("json") != null) {
      return Optional.of(Jcs.write(output.get("json")));
    }
    if (output.get("text") instanceof JsonValue.Str text) {
      return Optional.of(text.value().getBytes(StandardCharsets.UTF_8));
    }
    return output.get("base64") instanceof JsonValue.Str base64
        ? Optional.of(Base64.getDecoder().decode(base64.value()))
        : Optional.empty();
  }

  private static void require(boolean holds, String found) {
    if (!holds) {
      throw new WritException(ClientError.ANSWER_REFUSED, found);
    }
  }
}
