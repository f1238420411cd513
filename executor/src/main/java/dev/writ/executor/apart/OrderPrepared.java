package dev.writ.executor.apart;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;

/**
 * The executor's word that it would serve an order now.
 *
 * @param run what it knows of the run
 * @param missing contents that the effect names and that it does not have: with any, nothing else
 *     was looked at yet
 */
public record OrderPrepared(RunKnown run, List<Digest> missing) {
  public OrderPrepared {
    missing = List.copyOf(missing);
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("missing", missing, digest -> JsonValue.of(digest.toString()))
        .put("run", run.toJson())
        .build();
  }

  /** Reads one. */
  public static OrderPrepared read(Fields fields) {
    OrderPrepared read =
        new OrderPrepared(
            RunKnown.read(fields.fields("run")), fields.list("missing", Fields::digestItem));
    fields.end();
    return read;
  }
}
