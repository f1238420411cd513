package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Somebody who looks at what agents do, and at how much of it. It decides no effect.
 *
 * @param looksAs sorted
 */
public record PolicyPerson(String tenant, String subject, List<Look> looksAs) {
  /** As what a person looks (spec/policy.md, People). */
  public enum Look {
    APPROVER,
    AUDITOR,
    DEVELOPER,
    OPERATOR,
    VIEWER;

    /** As policies write it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it shows who asked for what and how it ended, of the whole tenant. */
    public boolean seesRows() {
      return this == VIEWER || this == OPERATOR || this == AUDITOR;
    }

    /** Whether it shows what effects were given and gave, of the whole tenant. */
    public boolean seesContents() {
      return this == AUDITOR;
    }
  }

  public PolicyPerson {
    looksAs = List.copyOf(looksAs);
  }

  static PolicyPerson read(Section section) {
    List<String> words = Stream.of(Look.values()).map(Look::word).toList();
    List<String> named = section.names("roles");
    section.require("roles", words.containsAll(named), "has a word that is none of " + words);
    PolicyPerson person =
        new PolicyPerson(
            section.name("tenant"),
            section.name("subject"),
            Stream.of(Look.values()).filter(look -> named.contains(look.word())).toList());
    section.end();
    return person;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("subject", subject)
        .putList("roles", looksAs, look -> JsonValue.of(look.word()))
        .build();
  }

  String key() {
    return tenant + "\u0000" + subject;
  }
}
