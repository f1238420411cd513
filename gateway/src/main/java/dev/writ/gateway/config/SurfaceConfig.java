package dev.writ.gateway.config;

import dev.writ.guardian.yaml.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The configuration of one surface.
 *
 * @param keys the name of a key file for each tenant
 * @param secrets files
 * @param settings all others, which the surface interprets
 */
public record SurfaceConfig(
    SortedMap<String, String> keys, List<String> secrets, Map<String, String> settings) {
  public SurfaceConfig {
    secrets = List.copyOf(secrets);
    settings = new TreeMap<>(settings);
  }

  static SurfaceConfig read(Section s) {
    SurfaceConfig config =
        new SurfaceConfig(
            words(s.optional("keys", s::section)),
            s.listOrNone("secrets", Section.Item::name),
            words(s.optional("settings", s::section)));
    s.end();
    return config;
  }

  private static SortedMap<String, String> words(Optional<Section> section) {
    TreeMap<String, String> words = new TreeMap<>();
    section.ifPresent(s -> {
      new ArrayList<>(s.keys()).forEach(key -> words.put(key, s.name(key)));
      s.end();
    });
    return words;
  }
}
