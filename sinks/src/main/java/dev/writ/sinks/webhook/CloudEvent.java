package dev.writ.sinks.webhook;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.sinks.feed.SinkRecord;

/** What webhooks send as CloudEvents 1.0 events in JSON: the same bytes at each attempt. */
public enum CloudEvent {
  INCIDENT,
  APPROVAL;

  static final String MEDIA_TYPE = "application/cloudevents+json";

  private String word() {
    return switch (this) {
      case INCIDENT -> "incident";
      case APPROVAL -> "approval";
    };
  }

  /** Of its signatures, so that a receiver of the one does not take the other. */
  String tag() {
    return "writ-" + word();
  }

  public byte[] bytes(SinkRecord record) {
    ObjectBuilder data = JsonValue.object();
    record
        .fields()
        .members()
        .forEach((name, value) -> {
          if (!name.equals("time")) {
            data.put(name, value);
          }
        });
    return Jcs.write(
        JsonValue.object()
            .put("specversion", "1.0")
            .put("id", record.id().toString())
            .put("source", record.log())
            .put("type", "dev.writ." + word() + "." + record.text("kind"))
            .put("subject", record.text("toolId") + "/" + record.text("toolVersion"))
            .put("time", record.at())
            .put("datacontenttype", "application/json")
            .put("data", data.build())
            .build());
  }
}
