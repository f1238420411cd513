package dev.writ.guardian.policy.governance;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.Comparator;

/**
 * A library of others that governed tools may carry along.
 *
 * @param digest of its files in {@code tool.lock} (spec/tool-governance.md): name and version are
 *     for people, the digest decides
 */
public record ApprovedLibrary(String name, String version, Digest digest) {
  static final Comparator<ApprovedLibrary> ORDER =
      Comparator.comparing(ApprovedLibrary::name)
          .thenComparing(ApprovedLibrary::version)
          .thenComparing(library -> library.digest.toString());

  static ApprovedLibrary read(Section section) {
    ApprovedLibrary library =
        new ApprovedLibrary(
            section.name("name"), section.name("version"), section.digest("digest"));
    section.end();
    return library;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("version", version)
        .put("digest", digest)
        .build();
  }
}
