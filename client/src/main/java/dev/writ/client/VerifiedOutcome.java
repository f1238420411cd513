package dev.writ.client;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.error.ClientError;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The outcome of a request: its documents are signed by pinned keys and are about that request.
 *
 * @param request the signed request that was submitted; {@link #requestId} may be an earlier one
 * @param decisionId id of the decision
 * @param receiptId present where the effect was dispatched, as is the receipt
 * @param output the output's bytes, whose digest the receipt states; absent where there is none or
 *     it was not retained
 * @param repeated whether the effect had been done before this call: the server's word alone
 * @param guidance what was missing where it was not allowed, unsigned (spec/guidance.md)
 */
public record VerifiedOutcome(
    Envelope request,
    Digest decisionId,
    Decision decision,
    Optional<Digest> receiptId,
    Optional<Receipt> receipt,
    Optional<byte[]> output,
    boolean repeated,
    Optional<JsonValue.Obj> guidance) {

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
    require(
        decision.scope().tenant().equals(asked.scope().tenant())
            && decision.scope().subject().equals(asked.scope().subject()),
        "the decision is on another subject");
    boolean allowed = decision.verdict() == Verdict.ALLOW;
    require(
        allowed == (answer.get("receipt") != null),
        allowed ? "it was allowed, and there is no receipt" : "it was not allowed, and was done");
    Optional<Envelope> envelope =
        allowed
            ? Optional.of(verified(answer, "receipt", Receipt.TYPE, trust, now))
            : Optional.empty();
    Optional<Receipt> receipt = envelope.map(e -> Receipt.read(e.document()));
    receipt.ifPresent(read -> {
      require(read.effect().equals(effect), "the receipt is of another effect");
      require(read.request().equals(decision.request()), "the receipt is of another request");
      require(read.decision().equals(decisionEnvelope.id()), "the receipt is of another decision");
    });
    return new VerifiedOutcome(
        request,
        decisionEnvelope.id(),
        decision,
        envelope.map(Envelope::id),
        receipt,
        receipt.flatMap(r -> output(answer, r.output())),
        JsonValue.TRUE.equals(answer.get("repeated")),
        answer.get("guidance") instanceof JsonValue.Obj told
            ? Optional.of(told)
            : Optional.empty());
  }

  /** What would help, in sentences for people and models; unsigned. */
  public List<String> help() {
    return guidance.map(told -> told.get("help")).stream()
        .filter(JsonValue.Arr.class::isInstance)
        .flatMap(lines -> ((JsonValue.Arr) lines).items().stream())
        .filter(JsonValue.Str.class::isInstance)
        .map(line -> ((JsonValue.Str) line).value())
        .toList();
  }

  /** Of the request that was decided; under an idempotency key that may be an earlier one. */
  public Digest requestId() {
    return decision.request();
  }

  /** Whether an approval is missing and nothing was done. */
  public boolean waits() {
    return receipt.isEmpty() && decision.verdict() == Verdict.ESCALATE;
  }

  /** Whether it was executed, with success. */
  public boolean succeeded() {
    return receipt.filter(r -> r.status() == Status.SUCCEEDED).isPresent();
  }

  /** Why not: the decision's or the receipt's code. */
  public Optional<String> code() {
    return decision.code().or(() -> receipt.flatMap(Receipt::code));
  }

  /** For people: the check that refused, or what the receipt says. */
  public String reason() {
    return receipt
        .map(r -> (r.reason() + " " + r.message()).strip())
        .orElseGet(() -> decision.refusing().map(CheckOutcome::detail).orElse(""));
  }

  /**
   * The output as text.
   *
   * @throws WritException {@code GWY-062} where there is none
   */
  public String text() {
    return new String(bytes(), StandardCharsets.UTF_8);
  }

  /**
   * The output as JSON.
   *
   * @throws WritException {@code GWY-062} where there is none, {@code CAN-0xx} where it is no JSON
   */
  public JsonValue json() {
    return Jcs.parse(bytes());
  }

  private byte[] bytes() {
    return output.orElseThrow(() ->
        new WritException(
            ClientError.ANSWER_REFUSED,
            "there is no output: " + decision.verdict() + " " + reason()));
  }

  VerifiedOutcome with(byte[] content) {
    return new VerifiedOutcome(
        request,
        decisionId,
        decision,
        receiptId,
        receipt,
        Optional.of(content),
        repeated,
        guidance);
  }

  private static Envelope verified(
      JsonValue.Obj answer, String key, String type, Trust trust, Instant now) {
    JsonValue value = answer.get(key);
    require(value != null, "it has no " + key);
    Envelope envelope = Envelope.parse(Jcs.write(value));
    trust.verify(envelope, type, now);
    return envelope;
  }

  private static Optional<byte[]> output(JsonValue.Obj answer, Optional<Content> stated) {
    if (!(answer.get("output") instanceof JsonValue.Obj output)) {
      return Optional.empty();
    }
    Optional<byte[]> bytes = bytes(output);
    bytes.ifPresent(b ->
        require(
            stated.map(Content::digest).equals(Optional.of(Digest.sha256(b))),
            "the output is not the receipt's"));
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
