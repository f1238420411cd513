package dev.writ.guardian.policy.retention;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Locale;

/**
 * Which contents are kept under keys that an erasure destroys (spec/retention.md, Sealed contents).
 *
 * @param contents the classes, sorted
 * @param by what has a key of its own
 */
public record SealedContents(List<ContentClass> contents, By by) {

  /** What has a key of its own. */
  public enum By {
    SUBJECT,
    RUN;

    static final List<By> ALL = List.of(values());

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static SealedContents read(Section section) {
    SealedContents sealed =
        new SealedContents(
            section
                .list("contents", item -> item.itemOf(ContentClass.ALL, ContentClass::text))
                .stream()
                .sorted()
                .toList(),
            section.oneOf("by", By.ALL, By::text));
    section.require("contents", !sealed.contents.isEmpty(), "no class of contents");
    if (sealed.contents.stream().distinct().count() < sealed.contents.size()) {
      throw section.at("contents", GuardianError.POLICY_DUPLICATE, "a class is written twice");
    }
    section.end();
    return sealed;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("contents", contents, content -> JsonValue.of(content.text()))
        .put("by", by.text())
        .build();
  }
}
