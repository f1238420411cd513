package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What was resolved when a server came from npm: the member {@code npm} of {@code server.json}. The
 * code itself is in the package.
 *
 * @param asked the words that a user typed, which resolve to another version some day
 * @param integrity npm's digest of the package's archive
 * @param packages the version of each installed package, by its folder
 * @param unrun packages with install scripts, which were not run
 */
public record NpmOrigin(
    List<String> asked,
    String name,
    String version,
    String integrity,
    SortedMap<String, String> packages,
    List<String> unrun) {
  public NpmOrigin {
    asked = List.copyOf(asked);
    packages = Collections.unmodifiableSortedMap(new TreeMap<>(packages));
    unrun = List.copyOf(unrun);
  }

  static NpmOrigin read(Fields fields) {
    TreeMap<String, String> packages = new TreeMap<>();
    Fields versions = fields.fields("packages");
    for (String folder : fields.obj("packages").members().keySet()) {
      packages.put(folder, versions.name(folder));
    }
    NpmOrigin origin =
        new NpmOrigin(
            fields.list("asked", Fields::stringItem),
            fields.name("package"),
            fields.name("version"),
            fields.name("integrity"),
            packages,
            fields.list("unrun", Fields::stringItem));
    fields.end();
    return origin;
  }

  JsonValue.Obj toJson() {
    var versions = JsonValue.object();
    packages.forEach(versions::put);
    return JsonValue.object()
        .putList("asked", asked, JsonValue::of)
        .put("integrity", integrity)
        .put("package", name)
        .put("packages", versions.build())
        .putList("unrun", unrun, JsonValue::of)
        .put("version", version)
        .build();
  }
}
