package dev.writ.sinks.webhook;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.sinks.feed.SinkRecord;

/** An incident as a CloudEvents 1.0 event in JSON: the same bytes at each attempt. */
public final class CloudEvent {
  static final String MEDIA_TYPE = "application/cloudevents+json";

  private static final String TYPE = "dev.writ.incident.";

  private CloudEvent() {}

  public static byte[] bytes(SinkRecord incident) {
    ObjectBuilder data = JsonValue.object();
    incident
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
            .put("id", incident.id().toString())
            .put("source", incident.log())
            .put("type", TYPE + incident.text("kind"))
            .put("subject", incident.text("toolId") + "/" + incident.text("toolVersion"))
            .put("time", incident.at())
            .put("datacontenttype", "application/json")
            .put("data", data.build())
            .build());
  }
}
