package dev.writ.replay.export;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.Bundle;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A format in which each outcome is a file, which has the name of its document's digest. */
public interface FileFormat {
  /** Receipts of COSE, which the log's own key signs. */
  String COSE_RECEIPT = "cose-receipt";

  /** Statements, which the exporter signs. */
  String SCITT = "scitt";

  /** Proofs with a checkpoint. */
  String TLOG_PROOF = "tlog-proof";

  /** The names of all formats, as the command line takes them. */
  List<String> NAMES = List.of(COSE_RECEIPT, SCITT, TLOG_PROOF);

  /**
   * Makes the files of a verified bundle.
   *
   * @param taker gets the event and the file's bytes, in the order of the log
   */
  void each(Bundle bundle, BiConsumer<Event, byte[]> taker);

  /** What the names of a format's files end with, behind the dot. */
  static String suffix(String name) {
    return name.equals(TLOG_PROOF) ? TLOG_PROOF : "cose";
  }

  /** Whether what is exported is signed anew, so that a key is needed. */
  static boolean isSigned(String name) {
    return name.equals(SCITT);
  }

  /**
   * @param name one of {@link #NAMES}
   * @param key signs where {@link #isSigned}
   * @param receipts makes those that are the format, or that go along in statements
   */
  static FileFormat of(String name, Optional<SigningKey> key, Optional<CoseReceipts> receipts) {
    return switch (name) {
      case COSE_RECEIPT -> receipts.orElseThrow();
      case SCITT -> new ScittStatements(key.orElseThrow(), receipts);
      case TLOG_PROOF -> new TlogProofs();
      default -> throw new IllegalArgumentException(name);
    };
  }
}
