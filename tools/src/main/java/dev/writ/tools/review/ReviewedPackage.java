package dev.writ.tools.review;

import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.http.HttpApi;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A package as its reviewers see it.
 *
 * @param requests what an HTTP tool sends, by its operations: its files say it, its manifest does
 *     not
 */
public record ReviewedPackage(ToolManifest manifest, SortedMap<String, String> requests) {
  public ReviewedPackage {
    requests = Collections.unmodifiableSortedMap(new TreeMap<>(requests));
  }

  public static ReviewedPackage of(ToolManifest manifest, Driver.PackageContent content) {
    return new ReviewedPackage(manifest, requests(manifest, content));
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
}
