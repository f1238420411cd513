package dev.writ.gateway.statistics;

import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A tenant's statistics.
 *
 * @param minutes of a step
 * @param since from then on nothing is missing
 * @param namedFrom tools, subjects and codes are counted from then on
 * @param codes why something was denied, refused or failed
 */
public record StatisticsTable(
    int minutes,
    Instant since,
    List<Step> series,
    Instant namedFrom,
    List<Map.Entry<Happened.Tool, Counts>> tools,
    List<Map.Entry<String, Counts>> subjects,
    List<Map.Entry<String, Counts>> codes) {

  /**
   * One of the steps.
   *
   * @param at its begin
   */
  public record Step(Instant at, Counts counts) {}

  public StatisticsTable {
    series = List.copyOf(series);
    tools = List.copyOf(tools);
    subjects = List.copyOf(subjects);
    codes = List.copyOf(codes);
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("step_s", 60L * minutes)
        .put("since", since)
        .putList(
            "series",
            series,
            step -> step.counts().addTo(JsonValue.object().put("at", step.at())).build())
        .put("named_from", namedFrom)
        .putList(
            "tools",
            tools,
            tool ->
                tool.getValue()
                    .addTo(
                        JsonValue.object()
                            .put("tool", tool.getKey().name())
                            .put("version", tool.getKey().version()))
                    .build())
        .putList(
            "subjects",
            subjects,
            subject ->
                subject
                    .getValue()
                    .addTo(JsonValue.object().put("subject", subject.getKey()))
                    .build())
        .putList(
            "codes",
            codes,
            code ->
                JsonValue.object()
                    .put("code", code.getKey())
                    .put("calls", code.getValue().calls())
                    .build())
        .build();
  }
}
