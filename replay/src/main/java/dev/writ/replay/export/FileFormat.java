package dev.writ.replay.export;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.Event;
import dev.writ.verify.bundle.Bundle;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A format in which each outcome is a file, which has the name of its document's digest. */
public interface FileFormat {
  /** The names of all formats, as the command line takes them. */
  List<String> NAMES = List.of("scitt", "tlog-proof");

  /** What a file's name ends with, behind the dot. */
  String suffix();

  /**
   * Makes the files of a verified bundle.
   *
   * @param taker gets the event and the file's bytes, in the order of the log
   */
  void each(Bundle bundle, BiConsumer<Event, byte[]> taker);

  /** Whether what is exported is signed anew, so that a key is needed. */
  static boolean isSigned(String name) {
    return name.equals("scitt");
  }

  /**
   * @param name one of {@link #NAMES}
   * @param key signs where {@link #isSigned}
   */
  static FileFormat of(String name, Optional<SigningKey> key) {
    return switch (name) {
      case "scitt" -> new ScittStatements(key.orElseThrow());
      case "tlog-proof" -> new TlogProofs();
      default -> throw new IllegalArgumentException(name);
    };
  }
}
