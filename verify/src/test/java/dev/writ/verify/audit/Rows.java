package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.journal.Tables;
import dev.writ.fixture.TestGovernance;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Batch;
import dev.writ.ledger.LedgerView;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** The rows of the executor's tables, for forgers. */
final class Rows {
  static final List<String> TABLES =
      List.of(
          Tables.RUN,
          Tables.REQUEST,
          Tables.SERVED,
          Tables.DISPATCHED,
          Tables.IDEMPOTENCY,
          Tables.RECEIPTS,
          Tables.DONE,
          Tables.REFERENCE,
          Tables.HELD,
          Tables.APPROVAL,
          Tables.PENDING,
          Tables.DOUBT,
          Tables.ACCOUNT,
          Tables.CLOSED,
          Tables.WORKSPACE,
          Tables.UNSETTLED,
          Tables.DELETED);

  /** Names of everybody whose key a ledger of these tests may know. */
  static final List<String> NAMES = names();

  private Rows() {}

  private static List<String> names() {
    List<String> names = new ArrayList<>(List.of("executor-2", "mcp"));
    TestKeys.PARTIES.forEach(party -> names.add(party.name()));
    TestGovernance.PARTIES.forEach(party -> names.add(party.name()));
    return names;
  }

  static void copy(LedgerView from, Batch to, UnaryOperator<String> text) {
    for (String table : TABLES) {
      from.scan(
          table,
          "",
          (key, value) -> {
            to.put(table, text.apply(key), value(value, text));
            return true;
          });
    }
  }

  private static byte[] value(byte[] value, UnaryOperator<String> text) {
    if (value.length == Digest.LENGTH) {
      return Digest.parse("sha256:" + text.apply(Digest.ofBytes(value).hex())).bytes();
    }
    return text.apply(new String(value, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
  }
}
