package dev.writ.tools.review;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.http.HttpApi;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.registry.BuiltinWords;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A package as its reviewers see it.
 *
 * @param requests what an HTTP tool sends, by its operations: its files say it, its manifest does
 *     not
 * @param listed what an MCP server of somebody else says of its tools, by their names: models read
 *     it, and nothing of ours depends on it
 */
public record ReviewedPackage(
    ToolManifest manifest,
    SortedMap<String, String> requests,
    SortedMap<String, JsonValue.Obj> listed) {
  public ReviewedPackage {
    requests = Collections.unmodifiableSortedMap(new TreeMap<>(requests));
    listed = Collections.unmodifiableSortedMap(new TreeMap<>(listed));
  }

  /**
   * @throws dev.writ.canonicalize.WritException {@code TOL-0xx}, {@code TOL-2xx} where its files
   *     are missing or damaged
   */
  public static ReviewedPackage of(ToolManifest manifest, Driver.PackageContent content) {
    return new ReviewedPackage(manifest, requests(manifest, content), listed(manifest, content));
  }

  private static SortedMap<String, String> requests(
      ToolManifest manifest, Driver.PackageContent content) {
    if (!manifest.driver().equals(Language.HTTP.text())) {
      return new TreeMap<>();
    }
    return manifest.files().stream()
        .filter(file -> file.path().equals(ToolSource.FILE))
        .findFirst()
        .flatMap(file -> ToolSource.parse(content.read(file)).http())
        .map(HttpApi::lines)
        .orElse(new TreeMap<>());
  }

  private static SortedMap<String, JsonValue.Obj> listed(
      ToolManifest manifest, Driver.PackageContent content) {
    TreeMap<String, JsonValue.Obj> all = new TreeMap<>();
    if (manifest.driver().equals(UpstreamPackage.DRIVER)) {
      UpstreamPackage.read(manifest, content)
          .tools()
          .byName()
          .forEach((name, tool) -> all.put(name, tool.toJson()));
    }
    return all;
  }

  /** What each operation is for, in the words of its server, its author, or the release. */
  public SortedMap<String, String> descriptions() {
    TreeMap<String, String> all = new TreeMap<>();
    for (ToolManifest.Operation operation : manifest.operations()) {
      JsonValue.Obj server = listed.get(operation.name());
      if (server != null && server.get("description") instanceof JsonValue.Str text) {
        all.put(operation.name(), text.value());
      } else {
        BuiltinWords.description(manifest, operation)
            .ifPresent(text -> all.put(operation.name(), text));
      }
    }
    return all;
  }
}
