package dev.writ.replay.export;

import dev.writ.canonicalize.crypto.SigningKey;
import java.util.List;
import java.util.Optional;

/** A format in which each outcome is one line of text. */
public interface LineFormat {
  /** The names of all formats, as the command line takes them. */
  List<String> NAMES = List.of("cloudevents", "csv", "in-toto", "ocsf");

  /** The line above all others; empty for most formats. */
  default Optional<String> head() {
    return Optional.empty();
  }

  /** One line, without its end. */
  String line(ExportedOutcome outcome);

  /** Whether what is exported is signed anew, so that a key is needed. */
  static boolean isSigned(String name) {
    return name.equals("in-toto");
  }

  /**
   * @param name one of {@link #NAMES}
   * @param origin the name of the log
   * @param key signs where {@link #isSigned}
   */
  static LineFormat of(String name, String origin, Optional<SigningKey> key) {
    return switch (name) {
      case "cloudevents" -> new CloudEventsFormat(origin);
      case "csv" -> new CsvFormat();
      case "in-toto" -> new InTotoFormat(origin, key.orElseThrow());
      case "ocsf" -> new OcsfFormat(origin);
      default -> throw new IllegalArgumentException(name);
    };
  }
}
