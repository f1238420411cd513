package dev.writ.executor.journal;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.form.Keys;
import java.util.HexFormat;

/**
 * The executor's tables in the ledger and how their keys are made. Names hold no control
 * characters, so the unit separator keeps their parts apart.
 */
public final class Tables {
  /** tenant, run → {@link RunState}. */
  public static final String RUN = "run";

  /** request → {@link RequestRow}. */
  public static final String REQUEST = "request";

  /** request → id of its receipt. */
  public static final String SERVED = "served";

  /** request → {@link DispatchedRow}, while there is no receipt. */
  public static final String DISPATCHED = "dispatched";

  /** tenant, subject, idempotency key → the request that took it. */
  public static final String IDEMPOTENCY = "idempotency";

  /** tenant, name of an execution (a request's {@code origin.execution}) → nothing. */
  public static final String EXECUTION = "execution";

  /** tenant, run, lamport → receipt. */
  public static final String RECEIPTS = "receipts";

  /** tenant, run, tool, operation → nothing: it succeeded in that run. */
  public static final String DONE = "done";

  /**
   * tenant, blob → nothing: the tenant may read it. Not written any more, since {@link #HELD} says
   * so, too ({@link TenantContents}); ledgers of format 2 and earlier have such rows.
   */
  public static final String REFERENCE = "reference";

  /**
   * tenant, blob, subject, run → nothing: that subject uploaded it (no run), or its effect in that
   * run produced it. Unlike {@link #REFERENCE} this says who may name the blob.
   */
  public static final String HELD = "held";

  /** In place of a subject: content that the installation stored for the whole tenant. */
  public static final String EVERYBODY = "";

  /** request, approval → nothing. */
  public static final String APPROVAL = "approval";

  /** tenant, run, request → nothing: it waits for approval. */
  public static final String PENDING = "pending";

  /** receipt → nothing while in doubt, the resolution's id afterwards. */
  public static final String DOUBT = "doubt";

  /** Rows of {@link dev.writ.guardian.Accounts}. */
  public static final String ACCOUNT = "account";

  /** number → an {@link dev.writ.guardian.AccountSummary}. No document depends on it. */
  public static final String ACCOUNT_SUMMARY = "account_summary";

  /**
   * latest time, number → nonces of a summary's requests ({@link dev.writ.guardian.NonceUses}). No
   * document depends on it.
   */
  public static final String ACCOUNT_NONCES = "account_nonces";

  /** tenant, run → size of the closed run's checkpoint; nothing until that is made. */
  public static final String CLOSED = "closed";

  /** tenant, run → nothing: the run used its workspace, which is not wiped yet. */
  public static final String WORKSPACE = "workspace";

  /**
   * tenant, run, request → tree digest before the effect, which was dispatched in the run's
   * workspace and whose end is not known. Any such row quarantines the workspace.
   */
  public static final String UNSETTLED = "unsettled";

  /** name of a sink → how far it is (spec/sinks.md). No document depends on it. */
  public static final String SINK = "sink";

  /**
   * name of a sink, incarnation, position → a record that it gave up on or is to send again
   * (spec/incidents.md). No document depends on it.
   */
  public static final String DEAD_LETTER = "dead_letter";

  /**
   * surface, end of its time, signature → nothing: a call that leaves nothing else in the ledger
   * was accepted by it (spec/surface-logline.md). No document depends on it.
   */
  public static final String SIGNATURE = "signature";

  /**
   * tenant, run → how many of the guardian's events of it were carried over; of an executor that is
   * apart from its guardian alone (spec/apart.md).
   */
  public static final String CARRIED = "carried";

  /** intent → nothing: the guardian has recorded its refusal, so it never begins. */
  public static final String GIVEN_UP = "given_up";

  /**
   * blob, tenant, run, seq of the event that names it, class of content → id of the document that
   * states its deletion.
   */
  public static final String DELETED = Ledger.DELETED;

  /** tenant, run → digest of the bundle that the archive has of it (spec/retention.md). */
  public static final String ARCHIVED = "archived";

  /**
   * id of an order of erasure → the ids of the keys that it destroys, or the time when it was
   * carried out. No document depends on it.
   */
  public static final String ERASURE = "erasure";

  private Tables() {}

  /** Joins the parts of a key. */
  public static String key(String... parts) {
    return String.join(String.valueOf(Keys.SEPARATOR), parts);
  }

  /** The prefix of all keys that begin with these whole parts. */
  public static String prefix(String... parts) {
    return key(parts) + Keys.SEPARATOR;
  }

  public static String key(Digest digest) {
    return digest.hex();
  }

  /** A number as a key part that sorts as numbers do. */
  public static String number(long value) {
    return HexFormat.of().toHexDigits(value);
  }

  /** All parts of a key, empty ones too. */
  static String[] parts(String key) {
    return key.split(String.valueOf(Keys.SEPARATOR), -1);
  }

  /** The first part of a key. */
  public static String firstPart(String key) {
    return key.substring(0, key.indexOf(Keys.SEPARATOR));
  }

  /** The last part of a key. */
  public static String lastPart(String key) {
    return key.substring(key.lastIndexOf(Keys.SEPARATOR) + 1);
  }
}
