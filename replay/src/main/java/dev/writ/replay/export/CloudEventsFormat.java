package dev.writ.replay.export;

import dev.writ.canonicalize.json.JsonValue;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** CloudEvents 1.0 in the JSON format, in structured mode. */
public final class CloudEventsFormat implements JsonFormat {
  private final String source;

  CloudEventsFormat(String origin) {
    this.source = source(origin);
  }

  /** What {@code source} is in the events of a log. */
  public static String source(String origin) {
    return "urn:writ:log:" + percent(origin);
  }

  @Override
  public JsonValue.Obj json(ExportedOutcome outcome) {
    return JsonValue.object()
        .put("data", outcome.signed())
        .put("datacontenttype", "application/json")
        .put("id", outcome.id())
        .put("source", source)
        .put("specversion", "1.0")
        .put("subject", outcome.request().effect().tool())
        .put("time", outcome.event().at())
        .put("type", "dev.writ.effect." + outcome.kind().text())
        // Names of extensions are a to z and 0 to 9; an integer has 32 bits, so this is a text.
        .put("writindex", Long.toString(outcome.index()))
        .put("writrun", outcome.event().run())
        .put("writstatus", outcome.status())
        .put("writsubject", outcome.request().scope().subject())
        .put("writtenant", outcome.event().tenant())
        .build();
  }

  /** Percent-encoded for a URN (RFC 8141). */
  private static String percent(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
  }
}
