package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.util.ArrayList;
import java.util.List;

/** Names rows that somebody will look at next ({@link LedgerView#expect}). Not thread safe. */
public final class ExpectedRows {
  private final List<Storage.Name> names = new ArrayList<>();

  public ExpectedRows document(Digest id) {
    return add(Family.DOCUMENTS, id.bytes());
  }

  /** A row of an index table. */
  public ExpectedRows row(String table, String key) {
    return add(Family.TABLES, Keys.table(table, key));
  }

  /** Which event a run ends with. */
  public ExpectedRows head(RunId run) {
    return add(Family.RUNS, Keys.run(run));
  }

  private ExpectedRows add(Family family, byte[] key) {
    names.add(new Storage.Name(family, key));
    return this;
  }

  List<Storage.Name> names() {
    return names;
  }
}
