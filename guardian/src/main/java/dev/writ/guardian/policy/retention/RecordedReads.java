package dev.writ.guardian.policy.retention;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import java.util.List;

/**
 * What people read in a tenant that is itself recorded in the log (spec/read-event.md).
 *
 * @param what sorted
 */
public record RecordedReads(String tenant, List<ReadClass> what) {
  public static RecordedReads read(Section section) {
    RecordedReads reads =
        new RecordedReads(
            section.name("tenant"),
            section.list("what", item -> item.itemOf(ReadClass.ALL, ReadClass::text)).stream()
                .sorted()
                .toList());
    section.require("what", !reads.what.isEmpty(), "nothing that is recorded");
    if (reads.what.stream().distinct().count() < reads.what.size()) {
      throw section.at("what", GuardianError.POLICY_DUPLICATE, "a word is written twice");
    }
    section.end();
    return reads;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .putList("what", what, word -> JsonValue.of(word.text()))
        .build();
  }
}
