package dev.writ.replay.export;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * OCSF 1.9: an event of the class API Activity with the profile {@code security_control}.
 *
 * <p>Not with {@code record_integrity}: its attestations are over the OCSF event, and Writ's
 * signatures are over the document, which is in {@code raw_data} with its digest in {@code
 * raw_data_hash}.
 */
final class OcsfFormat implements JsonFormat {
  private static final int CLASS = 6003;
  private static final int OTHER = 99;
  private static final String VERSION = "1.9.0";

  private final String origin;

  OcsfFormat(String origin) {
    this.origin = origin;
  }

  @Override
  public JsonValue.Obj json(ExportedOutcome outcome) {
    ObjectBuilder event =
        JsonValue.object()
            .put("activity_id", OTHER)
            .put("activity_name", "Execute")
            .put("actor", actor(outcome))
            .put("api", api(outcome))
            .put("category_name", "Application Activity")
            .put("category_uid", CLASS / 1000)
            .put("class_name", "API Activity")
            .put("class_uid", CLASS)
            .put("metadata", metadata(outcome))
            .put("policy", JsonValue.object().put("uid", outcome.decision().policy()).build())
            .put("raw_data", text(outcome.envelope().document()))
            .put(
                "raw_data_hash",
                JsonValue.object()
                    .put("algorithm", "SHA-256")
                    .put("algorithm_id", 3)
                    .put("value", outcome.id().hex())
                    .build())
            .put("severity", isFine(outcome) ? "Informational" : "Low")
            .put("severity_id", isFine(outcome) ? 1 : 2)
            .put("src_endpoint", source(outcome))
            .put("time", outcome.event().at().toEpochMilli())
            .put("type_name", "API Activity: Other")
            .put("type_uid", CLASS * 100 + OTHER)
            .put("unmapped", unmapped(outcome));
    outcome.code().ifPresent(code -> event.put("status_code", code));
    action(outcome, event);
    status(outcome, event);
    return event.build();
  }

  private static boolean isFine(ExportedOutcome outcome) {
    return outcome.receipt().filter(r -> r.status() == Status.SUCCEEDED).isPresent();
  }

  /** What the control did. */
  private static void action(ExportedOutcome outcome, ObjectBuilder event) {
    switch (outcome.kind()) {
      case EXECUTED ->
          event
              .put("action", "Allowed")
              .put("action_id", 1)
              .put("disposition", "Allowed")
              .put("disposition_id", 1);
      case REFUSED, DENIED ->
          event
              .put("action", "Denied")
              .put("action_id", 2)
              .put("disposition", "Blocked")
              .put("disposition_id", 2);
      case ESCALATED ->
          event
              .put("action", "escalated")
              .put("action_id", OTHER)
              .put("disposition", "escalated")
              .put("disposition_id", OTHER);
    }
  }

  /** How it ended. An outcome that is in doubt is neither a success nor a failure. */
  private static void status(ExportedOutcome outcome, ObjectBuilder event) {
    boolean undecided =
        outcome.kind() == ExportedOutcome.Kind.ESCALATED
            || outcome.receipt().filter(r -> r.status() == Status.IN_DOUBT).isPresent();
    if (undecided) {
      event.put("status", outcome.status()).put("status_id", OTHER);
    } else {
      event
          .put("status", isFine(outcome) ? "Success" : "Failure")
          .put("status_id", isFine(outcome) ? 1 : 2);
    }
    outcome.receipt().map(Receipt::reason).ifPresent(reason -> event.put("status_detail", reason));
  }

  private static JsonValue.Obj actor(ExportedOutcome outcome) {
    return JsonValue.object()
        .put(
            "user",
            JsonValue.object()
                .put("name", outcome.request().scope().subject())
                .put("type", "agent")
                .put("type_id", OTHER)
                .build())
        .build();
  }

  private static JsonValue.Obj api(ExportedOutcome outcome) {
    ObjectBuilder response = JsonValue.object();
    outcome.code().ifPresent(code -> response.put("error", code));
    return JsonValue.object()
        .put("operation", outcome.request().effect().operation())
        .put("request", JsonValue.object().put("uid", outcome.decision().request()).build())
        .put("response", response.build())
        .put(
            "service",
            JsonValue.object()
                .put("name", outcome.request().effect().tool())
                .put("version", outcome.request().effect().version())
                .build())
        .build();
  }

  private JsonValue.Obj metadata(ExportedOutcome outcome) {
    return JsonValue.object()
        .put("log_name", origin)
        .put("product", JsonValue.object().put("name", "Writ").put("vendor_name", "Writ").build())
        .putList("profiles", List.of("security_control"), JsonValue::of)
        .put("sequence", outcome.index())
        .put("tenant_uid", outcome.event().tenant())
        .put("uid", outcome.id())
        .put("version", VERSION)
        .build();
  }

  /** The surface that took the request; of one that was signed by the agent, the native API. */
  private static JsonValue.Obj source(ExportedOutcome outcome) {
    return JsonValue.object()
        .put("svc_name", outcome.request().origin().map(Origin::surface).orElse("v1"))
        .build();
  }

  private static JsonValue.Obj unmapped(ExportedOutcome outcome) {
    ObjectBuilder more =
        JsonValue.object()
            .put("outcome", outcome.kind().text())
            .put("payload_type", outcome.envelope().payloadType())
            .put("run", outcome.event().run())
            .put("signatures", outcome.envelope().toJson().get("signatures"));
    outcome
        .receipt()
        .ifPresent(receipt ->
            more.put("finished_at", receipt.finishedAt())
                .put("lamport", receipt.lamport())
                .put("prev", receipt.prev())
                .put("started_at", receipt.startedAt()));
    return more.build();
  }

  private static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
