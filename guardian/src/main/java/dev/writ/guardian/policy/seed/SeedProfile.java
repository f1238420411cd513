package dev.writ.guardian.policy.seed;

import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Seed 000's sandbox profiles, from the most to the least restricted. */
public enum SeedProfile {
  RESTRICTED,
  DEFAULT,
  PRIVILEGED;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  static SeedProfile read(Section section, String key) {
    return section.oneOf(key, List.of(values()), SeedProfile::text);
  }

  public static Optional<SeedProfile> of(String text) {
    return List.of(values()).stream().filter(profile -> profile.text().equals(text)).findFirst();
  }

  public boolean isAbove(SeedProfile ceiling) {
    return compareTo(ceiling) > 0;
  }
}
