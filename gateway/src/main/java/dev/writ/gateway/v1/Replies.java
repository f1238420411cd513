package dev.writ.gateway.v1;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Verdict;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/** The kernel's answers as the native API returns them. */
final class Replies {
  /** Larger outputs are not in the answer; they are read at their own address. */
  static final int INLINE_BYTES_MAX = 1 << 20;

  private Replies() {}

  /** 200 if it was served or allowed, 202 if it waits, 403 if it was denied. */
  static HttpAnswer of(Answer answer, Optional<Guidance> guidance) {
    return of(answer, guidance, Optional.empty());
  }

  /**
   * @param guidance for a request that was not allowed, or is only observed
   * @param request the signed request that the decision is on, for a caller who did not sign it
   */
  static HttpAnswer of(Answer answer, Optional<Guidance> guidance, Optional<Envelope> request) {
    ObjectBuilder body =
        JsonValue.object()
            .put("request_id", answer.request())
            .putIfPresent("request", request, Envelope::toJson)
            .put("verdict", answer.decision().verdict().name())
            .put("decision", answer.decisionEnvelope().toJson())
            .putIfPresent("intent", answer.intent(), Envelope::toJson)
            .putIfPresent("guidance", guidance, Guidance::toJson);
    if (answer.decision().verdict() == Verdict.ESCALATE) {
      body.put("waiting", waiting(answer.request(), answer.decision().scope().run()));
    }
    answer.served().ifPresent(served -> put(body, served));
    int status =
        switch (answer.decision().verdict()) {
          case Verdict.ALLOW -> 200;
          case Verdict.ESCALATE -> 202;
          case Verdict.DENY -> 403;
        };
    HttpAnswer reply =
        HttpAnswer.json(status, body.build())
            .with("Writ-Request", answer.request().toString())
            .with("Writ-Decision", answer.decisionEnvelope().id().toString());
    return answer.served().map(s -> reply.with("Writ-Receipt", s.id().toString())).orElse(reply);
  }

  /** Where a request that waits can be seen, waited for, and approved. */
  static JsonValue.Obj waiting(Digest request, String run) {
    return JsonValue.object()
        .put("request", "/v1/requests/" + request)
        .put("outcome", "/v1/requests/" + request + "/outcome?wait_s=" + DocumentRoutes.WAIT_S)
        .put(
            "events",
            "/v1/runs/"
                + URLEncoder.encode(run, StandardCharsets.UTF_8).replace("+", "%20")
                + "/events")
        .put("approvals", "/v1/approvals")
        .put("approve", "writ approve " + request)
        .build();
  }

  /**
   * @param guidance of what policy would have refused if it did not only observe
   */
  static HttpAnswer of(Served served, Optional<Guidance> guidance) {
    ObjectBuilder body =
        JsonValue.object()
            .put("request_id", served.receipt().request())
            .putIfPresent("guidance", guidance, Guidance::toJson);
    put(body, served);
    return HttpAnswer.json(200, body.build())
        .with("Writ-Request", served.receipt().request().toString())
        .with("Writ-Receipt", served.id().toString());
  }

  private static void put(ObjectBuilder body, Served served) {
    body.put("receipt_id", served.id())
        .put("receipt", served.envelope().toJson())
        .put("repeated", served.repeated())
        .putIfPresent("resolution", served.resolution(), Envelope::toJson);
    Optional<Content> content = served.receipt().output();
    if (content.isPresent() && served.output().isPresent()) {
      boolean inline =
          served.output().get().length <= INLINE_BYTES_MAX || !served.receipt().retained();
      body.put("output", output(content.get(), inline ? served.output() : Optional.empty()));
    }
  }

  /** JSON unchanged, text as a string, anything else in base64. */
  private static JsonValue output(Content content, Optional<byte[]> bytes) {
    ObjectBuilder output =
        JsonValue.object()
            .put("digest", content.digest())
            .put("size", content.size())
            .put("media_type", content.mediaType());
    bytes.ifPresent(b -> putContent(output, content.mediaType(), b));
    return output.build();
  }

  private static void putContent(ObjectBuilder output, String mediaType, byte[] bytes) {
    if (mediaType.equals("application/json") || mediaType.endsWith("+json")) {
      try {
        output.put("json", Jcs.parseCanonical(bytes, Limits.DEFAULT));
        return;
      } catch (WritException e) {
        // deeper than the limits of our documents: returned as bytes
      }
    } else if (mediaType.startsWith("text/")) {
      try {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        output.put("text", StandardCharsets.UTF_8.newDecoder().decode(buffer).toString());
        return;
      } catch (CharacterCodingException e) {
        // text in another encoding: returned as bytes
      }
    }
    output.put("base64", Base64.getEncoder().encodeToString(bytes));
  }

  /** An envelope; its payload is the signed bytes. */
  static HttpAnswer envelope(Envelope envelope) {
    return HttpAnswer.of(200, "application/vnd.writ.envelope+json", envelope.toBytes());
  }
}
