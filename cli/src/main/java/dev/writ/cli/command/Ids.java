package dev.writ.cli.command;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.cli.base.Homes;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.LedgerView;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/** Finds documents by the beginning of their id, as people name them. */
public final class Ids {
  private static final int DIGITS_MIN = 6;

  private Ids() {}

  /**
   * The document whose id begins so: {@code sha256:…} or only hexadecimal digits, six at least.
   *
   * @throws WritException {@code CLI-015} where there is none, or several
   */
  public static Envelope document(LedgerView ledger, String beginning) {
    String hex = beginning.toLowerCase(Locale.ROOT);
    hex = hex.startsWith("sha256:") ? hex.substring("sha256:".length()) : hex;
    if (!hex.matches("[0-9a-f]{" + DIGITS_MIN + ",64}")) {
      throw Homes.notFound("\"" + beginning + "\" is no id; give six hexadecimal digits or more");
    }
    if (hex.length() == 64) {
      return ledger
          .document(Digest.parse("sha256:" + hex))
          .orElseThrow(() -> Homes.notFound(beginning));
    }
    List<Digest> found = new ArrayList<>(matching(ledger, hex));
    if (found.size() != 1) {
      throw Homes.notFound(
          beginning + (found.isEmpty() ? "" : " begins " + found.size() + " ids: " + found));
    }
    return ledger.document(found.getFirst()).orElseThrow();
  }

  /** A refusal of a document of another kind. */
  public static WritException noRequest(String id) {
    return Homes.notFound(
        id
            + " is a document, and no request; writ log --json lists requests, writ approvals what"
            + " waits");
  }

  /** Every document is the body of an event, so the journal has them all. */
  private static TreeSet<Digest> matching(LedgerView ledger, String hex) {
    TreeSet<Digest> found = new TreeSet<>();
    ledger.eventsByIndex(
        0,
        ledger.treeSize(),
        (_, event) -> {
          boolean opening = event.kind().equals(EventKind.RUN_OPENED);
          if (!opening && event.body().hex().startsWith(hex) && ledger.hasDocument(event.body())) {
            found.add(event.body());
          }
        });
    return found;
  }
}
