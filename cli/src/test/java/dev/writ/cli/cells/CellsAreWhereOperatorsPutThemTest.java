package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.CellPlacement;
import dev.writ.guardian.document.Receipt;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three gateways in three regions, and a tenant whose cell may be in two of them. */
class CellsAreWhereOperatorsPutThemTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final int CELLS = 3;
  private static final String TENANT = "far";

  /** Not where its name would put the tenant. */
  private static final int CELL = 3 - CellPlacement.cellOf(TENANT, CELLS);

  private static final String NUMBER = String.valueOf(CELL);
  private static final int HOME = 0;
  private static final int NEXT = 1;
  private static final int ELSEWHERE = 2;

  @TempDir Path dir;
  private Gateways gateways;
  private Agent agent;

  private void region(int gateway, String name) throws IOException {
    Path file = gateways.home(gateway).resolve("gateway.yaml");
    Files.writeString(file, Files.readString(file) + "region: " + name + "\n");
  }

  private void place() throws IOException {
    assertThat(gateways.writ(0, "cells", "place", "t1", NUMBER).err())
        .as("a key and a policy name it")
        .contains("EXE-964");
    assertThat(gateways.writ(0, "cells", "place", TENANT, "3").err()).contains("EXE-965");
    assertThat(gateways.writ(0, "cells", "place", TENANT, "0").err()).contains("CLI-001");
    assertThat(gateways.writ(0, "cells", "regions", NUMBER).err())
        .contains("CLI-001", "--anywhere");
    assertThat(gateways.writ(0, "cells", "regions", NUMBER, "eu-1", "--anywhere").err())
        .contains("CLI-001");
    assertThat(
            gateways
                .writ(0, "cells", "regions", NUMBER, "--anywhere", "--elsewhere", "refuse")
                .err())
        .contains("CLI-001");
    assertThat(gateways.writ(0, "cells", "regions", NUMBER, "eu-1", "--elsewhere", "x").err())
        .contains("CLI-001");
    gateways.done(0, "cells", "place", TENANT, NUMBER);
    gateways.done(0, "cells", "regions", NUMBER, "eu-1", "eu-2", "--elsewhere", "refuse");
    gateways.done(0, "key", "new", "agent-far", "--tenant", TENANT, "--subject", "agent");
    Path policy = gateways.home(0).resolve("policy.yaml");
    Files.writeString(
        policy,
        Files.readString(policy)
            .replaceFirst("version: 2\n", "version: 3\n")
            .replaceFirst(
                "principals:\n",
                "principals:\n  - { tenant: far, subject: agent, roles: [analyst] }\n"));
    gateways.done(0, "policy", "activate", policy.toString());
    assertThat(gateways.writ(0, "cells", "place", TENANT, "1").err()).contains("EXE-964");
    assertThat(gateways.done(0, "--json", "cells", "list").out())
        .contains(
            "{\"cell\":"
                + CELL
                + ",\"elsewhere\":\"refuse\",\"regions\":[\"eu-1\",\"eu-2\"],\"tenants\":[",
            "\"far\"");
  }

  private Receipt receipt(int gateway, Agent.Asked asked) throws IOException {
    Agent.Answered answer = agent.send(gateways.url(gateway), asked);
    assertThat(answer.status()).as(answer.body().toString()).isEqualTo(200);
    return Receipt.read(Envelope.parse(Jcs.write(answer.body().get("receipt"))).document());
  }

  private void refused(int gateway, Agent.Asked asked) throws IOException {
    Agent.Answered answer = agent.send(gateways.url(gateway), asked);
    assertThat(answer.status() + " " + answer.text("code")).isEqualTo("421 GWY-197");
    assertThat(answer.text("detail")).contains("eu-1, eu-2");
  }

  private void awaitOwner(int gateway) throws IOException {
    gateways.await(
        "gateway " + gateway + " owns cell " + CELL,
        () ->
            gateways.owners().get(CELL) == gateway
                && gateways
                    .ask(gateways.url(gateway).resolve("/metrics"))
                    .contains("writ_cell_owned{cell=\"" + CELL + "\"} 1.0"));
  }

  private String told(int gateway) throws IOException {
    String bearer = "Bearer " + gateways.token(gateway);
    return gateways.ask(gateways.url(gateway).resolve("/v1/cells"), "Authorization", bearer);
  }

  @Test
  void aTenantsCellStaysInItsRegions() throws Exception {
    try (CountingServer outside = new CountingServer(dir.resolve("ca.pem"));
        Gateways all =
            new Gateways(SERVER, dir, outside, CELLS, new Gateways.Ports(port(), port(), port()))) {
      gateways = all;
      region(HOME, "eu-1");
      region(NEXT, "eu-2");
      region(ELSEWHERE, "us-1");
      place();
      try (Agent far = new Agent(gateways, TENANT, "agent-far");
          Agent other = new Agent(gateways, "t1", "agent-t1")) {
        agent = far;
        for (int gateway = 0; gateway < 3; gateway++) {
          gateways.start(gateway);
        }
        awaitOwner(HOME);
        Agent.Asked first = far.outside("run-1");
        whatPassesAndWhatDoesNot(outside, first, other);
        theRegionIsLost(other);
        gateways.start(HOME);
        awaitOwner(HOME);
        gateways.done(HOME, "cells", "regions", NUMBER, "us-1");
        awaitOwner(ELSEWHERE);
        assertThat(receipt(ELSEWHERE, far.outside("run-1")).region()).contains("us-1");
        assertThat(receipt(HOME, far.outside("run-1")).region())
            .as("it is forwarded")
            .contains("us-1");
        assertThat(receipt(HOME, first).region()).as("a repeat").contains("eu-1");
        anywhereAgain();
        assertThat(outside.all().values()).as("nothing is done twice").containsOnly(1);
      }
      gateways.stop(HOME);
      gateways.stop(ELSEWHERE);
      everythingVerifies();
    }
  }

  private static int port() {
    return SERVER.newAddress().getPort();
  }

  private void whatPassesAndWhatDoesNot(CountingServer outside, Agent.Asked first, Agent other)
      throws IOException {
    assertThat(receipt(HOME, first).region()).contains("eu-1");
    assertThat(receipt(NEXT, agent.outside("run-1")).region()).contains("eu-1");
    Agent.Asked strayed = agent.outside("run-1");
    gateways.await(
        "the gateway elsewhere has seen where the cell may be",
        () -> agent.send(gateways.url(ELSEWHERE), strayed).status() == 421);
    refused(ELSEWHERE, strayed);
    assertThat(outside.times(strayed.effect())).isLessThanOrEqualTo(1);
    Agent.Asked late = agent.outside("run-1");
    refused(ELSEWHERE, late);
    assertThat(outside.times(late.effect())).isZero();
    assertThat(
            gateways.ask(
                gateways.url(ELSEWHERE).resolve("/v1/runs"),
                "Authorization",
                "Bearer " + gateways.token(ELSEWHERE),
                "Writ-Cell",
                NUMBER))
        .as("reads neither")
        .startsWith("421 ")
        .contains("GWY-197");
    assertThat(other.send(gateways.url(ELSEWHERE), other.outside("run-1")).status())
        .as("another cell")
        .isEqualTo(200);
  }

  /** The next region takes the cell over, and no other one. */
  private void theRegionIsLost(Agent other) throws IOException {
    gateways.kill(HOME);
    awaitOwner(NEXT);
    assertThat(receipt(NEXT, agent.outside("run-1")).region()).contains("eu-2");
    assertThat(told(NEXT)).contains("\"region\":\"eu-2\",\"regions\":[\"eu-1\",\"eu-2\"]");
    assertThat(gateways.ask(gateways.url(NEXT).resolve("/metrics")))
        .contains("writ_cell_away{cell=\"" + CELL + "\"} 1.0");
    gateways.start(HOME);
    awaitOwner(HOME);
    gateways.kill(HOME);
    gateways.kill(NEXT);
    gateways.await(
        "the gateway elsewhere has the other cells",
        () ->
            gateways.owners().get(0) == ELSEWHERE && gateways.owners().get(3 - CELL) == ELSEWHERE);
    gateways.await(
        "it is ready",
        () ->
            gateways
                .ask(gateways.url(ELSEWHERE).resolve("/ready"))
                .contains("{\"name\":\"cell\",\"ok\":true}"));
    gateways.await("the lease of the cell is over", () -> gateways.owners().get(CELL) == -1);
    refused(ELSEWHERE, agent.outside("run-1"));
    assertThat(gateways.owners().get(CELL)).as("rather none than one elsewhere").isEqualTo(-1);
    String tenant = other.tenant();
    if (CellPlacement.cellOf(tenant, CELLS) != CELL) {
      assertThat(other.send(gateways.url(ELSEWHERE), other.outside("run-1")).status())
          .isEqualTo(200);
    }
  }

  /** No gateway is left that could have owned it where it was stated to be. */
  private void anywhereAgain() throws IOException {
    gateways.done(HOME, "cells", "regions", NUMBER, "eu-9");
    gateways.await("nobody may own the cell", () -> gateways.owners().get(CELL) == -1);
    gateways.done(HOME, "cells", "regions", NUMBER, "--anywhere");
    gateways.await("it has an owner", () -> gateways.owners().get(CELL) != -1);
    assertThat(gateways.done(0, "cells", "list").out()).contains("any");
    gateways.await(
        "any of them serves it",
        () -> agent.send(gateways.url(ELSEWHERE), agent.outside("run-1")).status() == 200);
    assertThat(told(ELSEWHERE)).doesNotContain("\"regions\":");
  }

  private void everythingVerifies() throws IOException {
    for (int cell = 0; cell < CELLS; cell++) {
      gateways.done(1, "--cell", String.valueOf(cell), "audit");
      gateways.done(1, "--cell", String.valueOf(cell), "fsck");
    }
    gateways.done(1, "--cell", NUMBER, "checkpoint");
    String bundle = dir.resolve("far.writ").toString();
    String trust =
        Files.writeString(
                dir.resolve("trust.jwks"),
                gateways.done(0, "--cell", NUMBER, "--json", "key", "list").out())
            .toString();
    gateways.done(0, "export", "run-1", "--tenant", TENANT, "-o", bundle);
    gateways.done(1, "verify", bundle, "--trust", trust);
    SecondVerifier.verified(bundle, trust);
  }
}
