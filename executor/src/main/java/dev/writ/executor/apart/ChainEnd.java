package dev.writ.executor.apart;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * Where a run's chain of receipts ends.
 *
 * @param prev id of the last receipt; of the run's opening event where there is none
 * @param lamport of the last receipt; 0 where there is none
 */
public record ChainEnd(Digest prev, long lamport) {
  public JsonValue.Obj toJson() {
    return JsonValue.object().put("lamport", lamport).put("prev", prev).build();
  }

  /** Reads one. */
  public static ChainEnd read(Fields fields) {
    ChainEnd end = new ChainEnd(fields.digest("prev"), fields.count("lamport"));
    fields.end();
    return end;
  }
}
