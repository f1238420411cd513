package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.form.LogRow;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.merkle.Frontier;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes a ledger one that an earlier format wrote. */
final class EarlierFormat {
  private EarlierFormat() {}

  /**
   * Gives the rows of the log the form of formats 1 and 2: all nodes, and no row that says else.
   */
  static void allNodes(Storage store, Write rows) {
    Frontier frontier = Frontier.empty();
    for (Storage.Row row : all(store, Family.LOG)) {
      byte[] key = LogRow.eventKey(frontier.size(), 0, row.value());
      byte[] event = store.get(Family.EVENTS, key).orElseThrow();
      List<Digest> nodes = frontier.append(Merkle.leafHash(StoredForm.eventBytes(key, event)));
      ByteBuffer full = ByteBuffer.allocate(nodes.size() * Digest.LENGTH + key.length);
      nodes.forEach(node -> full.put(node.bytes()));
      rows.put(Family.LOG, row.key(), full.put(key).array());
    }
    rows.delete(Family.DEFAULT, MetaRow.ONE_NODE_FROM.key());
  }

  /** Makes the ledger in this home one of format 2. */
  static void format2(Path home) throws IOException {
    try (Storage store = RocksStorage.open(home.resolve("data/db"));
        Write rows = store.newWrite()) {
      allNodes(store, rows);
      Fixture.write(store, rows);
    }
    Files.writeString(home.resolve("data/FORMAT"), "writ-ledger 2\n");
  }

  static List<Storage.Row> all(Storage store, Family family) {
    List<Storage.Row> rows = new ArrayList<>();
    store.scan(
        family, new byte[0], new byte[0], (key, value) -> rows.add(new Storage.Row(key, value)));
    return rows;
  }
}
