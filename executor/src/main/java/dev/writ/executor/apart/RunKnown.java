package dev.writ.executor.apart;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * What the executor knows of a run.
 *
 * @param carried how many of the guardian's events of it were carried over
 * @param end of its chain of receipts; absent where it does not know the run
 */
public record RunKnown(long carried, Optional<ChainEnd> end) {
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("carried", carried)
        .putIfPresent("end", end, ChainEnd::toJson)
        .build();
  }

  /** Reads one. */
  public static RunKnown read(Fields fields) {
    RunKnown known =
        new RunKnown(
            fields.count("carried"),
            fields.optional("end", key -> ChainEnd.read(fields.fields(key))));
    fields.end();
    return known;
  }
}
