package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What viewers, operators, auditors and everybody else see of somebody else's effects. */
class PolicySaysWhoMayLookTest {
  private static final String MARK = "PARAMETER-OF-ALICE";

  @TempDir Path dir;
  private TestGateway gateway;
  private String request;
  private String receipt;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
    Reply done =
        gateway.submit(
            gateway
                .home
                .ask("alice")
                .run("run-1")
                .tool("mail")
                .params("{\"to\":\"" + MARK + "\"}")
                .sign());
    assertThat(done.status()).as(done.text()).isEqualTo(200);
    request = done.string("request_id");
    receipt = done.string("receipt_id");
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private void looks(String tenant, String subject, String roles) {
    gateway.home.activate(
        TestPolicy.YAML
            + "people: [ { tenant: "
            + tenant
            + ", subject: "
            + subject
            + ", roles: ["
            + roles
            + "] } ]\n");
  }

  /** What bob gets: of the list, the one effect, its receipt, its output and the run's bundle. */
  private String seen(String who) {
    Reply effect = gateway.get(who, "/v1/effects/" + request);
    return String.join(
        " ",
        gateway.get(who, "/v1/effects").text().contains(request) ? "row" : "-",
        effect.status() == 200 ? effect.text().contains(MARK) ? "contents" : "withheld" : "-",
        String.valueOf(gateway.get(who, "/v1/receipts/" + receipt).status()),
        String.valueOf(gateway.get(who, "/v1/receipts/" + receipt + "/output").status()),
        String.valueOf(gateway.get(who, "/v1/runs/run-1/bundle").status()));
  }

  @Test
  void whoIsNoPersonSeesNothingOfOthers() {
    assertThat(seen("bob")).isEqualTo("- - 404 404 404");
  }

  @Test
  void viewersAndOperatorsSeeRowsAndNoContents() {
    looks(TestKeys.TENANT, "bob", "viewer");
    assertThat(seen("bob")).isEqualTo("row withheld 404 404 404");
    looks(TestKeys.TENANT, "bob", "operator");
    assertThat(seen("bob")).isEqualTo("row withheld 404 404 404");
  }

  @Test
  void auditorsReadAllOfTheirTenant() {
    looks(TestKeys.TENANT, "bob", "auditor");
    assertThat(seen("bob")).isEqualTo("row contents 200 200 200");
  }

  @Test
  void developersAndApproversSeeWhatTheySawBefore() {
    looks(TestKeys.TENANT, "bob", "developer, approver");
    assertThat(seen("bob")).isEqualTo("- - 404 404 404");
  }

  @Test
  void anAuditorOfAnotherTenantSeesNothing() {
    looks(TestKeys.OTHER_TENANT, "eve", "auditor");
    assertThat(seen("eve")).isEqualTo("- - 404 404 404");
  }

  /** "narrow" is alice's token, narrowed to the role worker. */
  @Test
  void aCredentialNarrowsWhatAPersonSees() {
    Reply done = gateway.submit(gateway.home.ask("bob").run("run-2").tool("mail").sign());
    String foreign = done.string("request_id");
    looks(TestKeys.TENANT, "alice", "auditor");
    assertThat(gateway.get("alice", "/v1/effects/" + foreign).status()).isEqualTo(200);
    assertThat(gateway.get("narrow", "/v1/effects/" + foreign).status()).isEqualTo(404);
  }
}
