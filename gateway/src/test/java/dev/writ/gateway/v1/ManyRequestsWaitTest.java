package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.Tables;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** However many requests wait, approvers page through all of them and answer each. */
class ManyRequestsWaitTest {
  private static final int MANY = Integer.getInteger("writ.waiting", 2_000);
  private static final int PAGE = 300;

  @TempDir Path dir;

  @Test
  void eachIsOnOnePageAndOneThatIsAnsweredIsGone() throws Exception {
    try (TestGateway gateway = TestGateway.start(dir)) {
      List<Envelope> asked = ask(gateway);
      List<String> seen = pages(gateway);
      assertThat(seen).doesNotHaveDuplicates().hasSize(MANY);
      assertThat(new TreeSet<>(seen))
          .isEqualTo(new TreeSet<>(asked.stream().map(e -> e.id().toString()).toList()));
      Digest last = Digest.parse(seen.getLast());
      Envelope answered =
          asked.stream().filter(one -> one.id().equals(last)).findFirst().orElseThrow();
      Envelope approval = gateway.home.approval(answered, "rita", Approval.Verdict.APPROVE);
      assertThat(gateway.post("/v1/approvals", approval.toBytes()).string("verdict"))
          .isEqualTo("ALLOW");
      assertThat(pages(gateway)).hasSize(MANY - 1).isEqualTo(seen.subList(0, MANY - 1));
    }
  }

  /** A page begins where the one before ended: what lies before is not read again. */
  @Test
  void aPageReadsNoRowsBeforeItsBeginning() {
    try (TestGateway gateway = TestGateway.start(dir)) {
      for (int i = 0; i < 5; i++) {
        gateway.submit(gateway.home.ask("bob").run("run-2").tool("pay").sign());
      }
      List<String> keys = new ArrayList<>();
      gateway
          .home
          .ledger()
          .scan(Tables.PENDING, Tables.prefix(TestKeys.TENANT), (key, _) -> keys.add(key));
      List<String> from = new ArrayList<>();
      gateway
          .home
          .ledger()
          .scan(
              Tables.PENDING,
              Tables.prefix(TestKeys.TENANT),
              keys.get(3),
              (key, _) -> from.add(key));
      assertThat(from).isEqualTo(keys.subList(3, 5));
    }
  }

  private static List<Envelope> ask(TestGateway gateway) throws Exception {
    List<Envelope> asked = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      asked.add(gateway.home.ask("bob").run("run-" + i % 20).tool("pay").sign());
    }
    try (ExecutorService callers = Executors.newFixedThreadPool(32)) {
      List<Future<Verdict>> verdicts =
          asked.stream()
              .map(one -> callers.submit(() -> gateway.home.submit(one).decision().verdict()))
              .toList();
      for (Future<Verdict> verdict : verdicts) {
        assertThat(verdict.get()).isEqualTo(Verdict.ESCALATE);
      }
    }
    return asked;
  }

  private static List<String> pages(TestGateway gateway) {
    List<String> seen = new ArrayList<>();
    String after = "";
    do {
      Reply page = gateway.get("rita", "/v1/approvals?limit=" + PAGE + after);
      assertThat(page.status()).as(page.text()).isEqualTo(200);
      List<JsonValue> waiting = ((JsonValue.Arr) page.json().get("waiting")).items();
      assertThat(waiting).hasSizeLessThanOrEqualTo(PAGE);
      waiting.forEach(
          one -> seen.add(((JsonValue.Str) ((JsonValue.Obj) one).get("request_id")).value()));
      after = page.json().get("next_after") == null ? "" : "&after=" + page.string("next_after");
    } while (!after.isEmpty());
    return seen;
  }
}
