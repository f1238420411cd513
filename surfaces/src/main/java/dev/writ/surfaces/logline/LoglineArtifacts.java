package dev.writ.surfaces.logline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.BlobAnswer;
import dev.writ.gateway.v1.Reader;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.policy.retention.ReadClass;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The files that an execution left, as its receipt names them: in the answer, or, beyond the
 * configured size, at an address of their own.
 */
final class LoglineArtifacts {
  static final String PATH = "/execute/artifacts/{receipt}/{digest}";

  private final Pipeline pipeline;
  private final long inlineBytes;

  LoglineArtifacts(Pipeline pipeline, long inlineBytes) {
    this.pipeline = pipeline;
    this.inlineBytes = inlineBytes;
  }

  /** In the order of the receipt; each that still fits carries its content. */
  JsonValue.Arr of(Served served) {
    long left = inlineBytes;
    List<JsonValue> all = new ArrayList<>();
    for (Receipt.Artifact artifact : served.receipt().artifacts()) {
      Content content = artifact.content();
      ObjectBuilder json =
          JsonValue.object()
              .put("name", artifact.name())
              .put("media_type", content.mediaType())
              .put("size", content.size())
              .put("digest", content.digest());
      Optional<byte[]> bytes =
          content.size() <= left
              ? pipeline.content(served.receipt().scope().tenant(), content, content.size())
              : Optional.empty();
      if (bytes.isPresent()) {
        left -= content.size();
        json.put("content", Base64.getEncoder().encodeToString(bytes.get()));
      } else {
        json.put(
            "url",
            PATH.replace("{receipt}", served.id().toString())
                .replace("{digest}", content.digest().toString()));
      }
      all.add(json.build());
    }
    return JsonValue.of(all);
  }

  /**
   * A receipt of any tenant; {@link #get} says who may read of it.
   *
   * @throws WritException {@code GWY-040}
   */
  Receipt receipt(String id) {
    return pipeline
        .ledger()
        .document(Digest.parse(id))
        .filter(envelope -> envelope.payloadType().equals(Receipt.TYPE))
        .map(envelope -> Receipt.read(envelope.document()))
        .orElseThrow(() -> Reader.unknown(id));
  }

  /**
   * The artifact that a call's path names, for a caller that may read the receipt.
   *
   * @throws WritException {@code GWY-040} for what is unknown, foreign or no artifact of the
   *     receipt
   */
  HttpAnswer get(HttpCall call, Caller caller, Receipt receipt) {
    Reader reader = new Reader(pipeline.kernel());
    if (!reader.maySee(caller, receipt.scope())) {
      throw Reader.unknown(call.value("receipt"));
    }
    Content content =
        receipt.artifacts().stream()
            .map(Receipt.Artifact::content)
            .filter(c -> c.digest().toString().equals(call.value("digest")))
            .findFirst()
            .orElseThrow(() -> Reader.unknown(call.value("digest")));
    HttpAnswer answer =
        BlobAnswer.of(
            pipeline.kernel(),
            caller.tenant(),
            content.digest(),
            content.mediaType(),
            call.headers());
    reader.records().effect(caller, receipt.scope(), content.digest(), ReadClass.OUTPUTS);
    return answer;
  }
}
