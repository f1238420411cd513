package dev.writ.deploy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The files of the project that this module tests. */
final class Project {
  private Project() {}

  /** The folder {@code deploy}; Maven runs tests in their module's folder. */
  static Path deploy() {
    return Path.of("").toAbsolutePath();
  }

  static String read(String file) {
    try {
      return Files.readString(deploy().resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every document of a YAML text, in its order; empty documents are left out. */
  static List<Map<?, ?>> documents(String yaml) {
    List<Map<?, ?>> documents = new ArrayList<>();
    for (Object document : new Load(LoadSettings.builder().build()).loadAllFromString(yaml)) {
      if (document instanceof Map<?, ?> map) {
        documents.add(map);
      }
    }
    return documents;
  }
}
