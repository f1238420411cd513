package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.cli.Run;
import dev.writ.embed.home.Home;
import dev.writ.executor.CellPlacement;
import dev.writ.guardian.document.AccessDocument;
import dev.writ.guardian.document.Receipt;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three gateways and a tenant that was moved: who holds the id of a thing of before the move reads
 * it at any gateway and with any command, and nobody else does (spec/cells.md, 61 to 65).
 */
class WhatATenantLeftBehindIsFoundTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final int CELLS = 3;
  private static final int GATEWAYS = 3;
  private static final int FAR = 2;
  private static final String TENANT = "local";
  private static final int FIRST = CellPlacement.cellOf(TENANT, CELLS);
  private static final int SECOND = 3 - FIRST;
  private static final String FORMER = String.valueOf(FIRST);
  private static final String NEIGHBOUR =
      Gateways.TENANTS.stream()
          .filter(tenant -> CellPlacement.cellOf(tenant, CELLS) == FIRST)
          .findFirst()
          .orElseThrow();
  private static final String NOBODYS = Digest.sha256("nothing has this id".getBytes()).toString();

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @TempDir Path dir;
  private Gateways gateways;
  private CountingServer outside;

  private record Signer(String tenant, SigningKey key) {}

  private Signer signer(String tenant, String name) {
    return new Signer(
        tenant, KeyFiles.read(gateways.home(0).resolve("keys/" + name + ".pem"), () -> null));
  }

  private String access(Signer signer) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    String audience = Home.existing(gateways.home(0), () -> null).installation();
    return AccessDocument.header(
        Envelope.sign(
            AccessDocument.TYPE,
            new AccessDocument(signer.tenant(), audience, now, now.plusSeconds(60)).toJson(),
            signer.key()));
  }

  private HttpResponse<byte[]> sent(
      String method, int gateway, String path, Signer by, String... headers) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateways.url(gateway).resolve(path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .header("Authorization", access(by));
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private HttpResponse<byte[]> get(int gateway, String path, Signer by, String... headers)
      throws IOException {
    return sent("GET", gateway, path, by, headers);
  }

  private static String text(HttpResponse<byte[]> answer) {
    return new String(answer.body(), StandardCharsets.UTF_8);
  }

  private static Optional<String> cell(HttpResponse<byte[]> answer) {
    return answer.headers().firstValue("Writ-Cell");
  }

  private static Optional<String> former(HttpResponse<byte[]> answer) {
    return answer.headers().firstValue("Writ-Former-Cells");
  }

  private static Receipt receipt(Agent.Answered answer) {
    assertThat(answer.status()).as(answer.body().toString()).isEqualTo(200);
    return Receipt.read(Envelope.parse(Jcs.write(answer.body().get("receipt"))).document());
  }

  private void region(int gateway, String name) throws IOException {
    Path file = gateways.home(gateway).resolve("gateway.yaml");
    Files.writeString(file, Files.readString(file) + "region: " + name + "\n");
  }

  private static int port() {
    return SERVER.newAddress().getPort();
  }

  @Test
  void byItsOwnTenantAtAnyGatewayAndByNobodyElse() throws Exception {
    try (CountingServer counting = new CountingServer(dir.resolve("ca.pem"));
        Gateways all =
            new Gateways(SERVER, dir, counting, CELLS, new Gateways.Ports(port(), port(), port()));
        http) {
      gateways = all;
      outside = counting;
      region(0, "eu-1");
      region(1, "eu-1");
      region(FAR, "us-1");
      try (Agent agent = new Agent(gateways);
          Agent neighbour = new Agent(gateways, NEIGHBOUR, "agent-" + NEIGHBOUR)) {
        for (int gateway = 0; gateway < GATEWAYS; gateway++) {
          gateways.start(gateway);
        }
        gateways.awaitShares(0, 1, 2);
        Agent.Answered before = agent.send(gateways.url(0), agent.outside("run-1"));
        Agent.Answered others = neighbour.send(gateways.url(0), neighbour.outside("run-x"));
        Signer own = signer(TENANT, "agent");
        assertThat(former(get(0, "/v1/runs", own))).as("it was nowhere else").isEmpty();
        waits();
        gateways.done(0, "cells", "move", TENANT, String.valueOf(SECOND), "--wait", "60");
        whatWaitedIsVoid();
        Agent.Answered after = agent.send(gateways.url(1), agent.outside("run-2"));
        everyGatewayFinds(own, before, after);
        nobodyElseDoes(own, before, others);
        listsSayWhereElseThereIsSomething(own);
        commandsFindIt(before);
        aPolicyIsProposedOfAllCells();
        anOrderReachesEachOfItsCells();
        aFormerCellThatCannotAnswerIsNoUnknownId(own, before, after);
        gateways.done(0, "key", "revoke", own.key().kid());
        HttpResponse<byte[]> revoked = get(0, "/v1/receipts/" + before.text("receipt_id"), own);
        assertThat(revoked.statusCode()).as("by the rights of now").isEqualTo(403);
        assertThat(outside.all().values()).containsOnly(1);
      }
    }
  }

  private void waits() {
    gateways.writ(
        0, "run", "sql", "--param", "sql=select 1", "--output-kb", "2000", "--run", "asked");
    assertThat(gateways.done(0, "approvals").out()).contains("  waits  ");
  }

  private void whatWaitedIsVoid() throws IOException {
    assertThat(gateways.done(0, "approvals").err()).contains("Nothing waits");
    Run left = gateways.done(0, "--cell", FORMER, "approvals");
    assertThat(left.out()).contains("  moved  ").doesNotContain("  waits  ");
    assertThat(left.err()).contains("its agent asks anew");
    Matcher id = Pattern.compile("  moved +([0-9a-f]{12})").matcher(left.out());
    assertThat(id.find()).isTrue();
    assertThat(gateways.writ(0, "--cell", FORMER, "approve", id.group(1), "--yes").err())
        .contains("EXE-990", "its agent asks anew");
    Signer approver = signer(TENANT, "approver");
    assertThat(text(get(0, "/v1/approvals", approver, "Writ-Cell", FORMER)))
        .contains("\"moved_to\":" + SECOND);
    assertThat(text(get(0, "/v1/approvals", approver))).contains("\"waiting\":[]");
  }

  private void everyGatewayFinds(Signer own, Agent.Answered before, Agent.Answered after)
      throws IOException {
    Receipt receipt = receipt(before);
    String id = before.text("receipt_id");
    List<String> things =
        List.of(
            "receipts/" + id,
            "receipts/" + id + "/output",
            "receipts/" + id + "/proof",
            "requests/" + receipt.request(),
            "requests/" + receipt.request() + "/outcome",
            "decisions/" + receipt.decision(),
            "effects/" + receipt.request(),
            "runs/run-1",
            "runs/run-1/events",
            "runs/run-1/bundle",
            "blobs/" + receipt.output().orElseThrow().digest() + "?of=" + id);
    for (int gateway = 0; gateway < GATEWAYS; gateway++) {
      for (String thing : things) {
        HttpResponse<byte[]> found = get(gateway, "/v1/" + thing, own);
        assertThat(found.statusCode()).as(thing + " " + text(found)).isEqualTo(200);
        assertThat(cell(found)).as(thing).contains(FORMER);
        assertThat(former(found)).as(thing).isEmpty();
        assertThat(found.body()).isNotEmpty();
      }
      HttpResponse<byte[]> head = sent("HEAD", gateway, "/v1/receipts/" + id, own);
      assertThat(head.statusCode()).isEqualTo(200);
      assertThat(cell(head)).contains(FORMER);
      HttpResponse<byte[]> here = get(gateway, "/v1/receipts/" + after.text("receipt_id"), own);
      assertThat(here.statusCode()).isEqualTo(200);
      assertThat(cell(here)).as("of the tenant's own cell").isEmpty();
    }
    Path bundle = dir.resolve("http.writ");
    Files.write(bundle, get(1, "/v1/runs/run-1/bundle", own).body());
    gateways.done(0, "verify", bundle.toString(), "--trust", trust());
  }

  private String trust() throws IOException {
    return Files.writeString(
            dir.resolve("trust.jwks"),
            gateways.done(0, "--cell", FORMER, "--json", "key", "list").out())
        .toString();
  }

  /** A neighbour in the former cell is as unknown as what does not exist. */
  private void nobodyElseDoes(Signer own, Agent.Answered before, Agent.Answered others)
      throws IOException {
    receipt(others);
    Signer neighbour = signer(NEIGHBOUR, "agent-" + NEIGHBOUR);
    Signer liar = new Signer(TENANT, SigningKey.generateEd25519(new SecureRandom()));
    String mine = "/v1/receipts/" + before.text("receipt_id");
    String theirs = "/v1/receipts/" + others.text("receipt_id");
    for (int gateway = 0; gateway < GATEWAYS; gateway++) {
      for (String path : List.of(theirs, "/v1/receipts/" + NOBODYS, "/v1/runs/run-x")) {
        HttpResponse<byte[]> unknown = get(gateway, path, own);
        assertThat(unknown.statusCode()).as(path).isEqualTo(404);
        assertThat(text(unknown)).contains("GWY-040");
        assertThat(cell(unknown)).isEmpty();
        assertThat(former(unknown)).isEmpty();
      }
      assertThat(get(gateway, theirs, neighbour).statusCode()).isEqualTo(200);
      assertThat(get(gateway, mine, neighbour).statusCode()).isEqualTo(404);
      assertThat(former(get(gateway, "/v1/runs", neighbour))).isEmpty();
      assertThat(get(gateway, "/v1/no-such-thing/x", own).statusCode()).isEqualTo(404);
      assertThat(get(gateway, mine, own, "Writ-Cell", String.valueOf(SECOND)).statusCode())
          .as("whoever names a cell asks that one")
          .isEqualTo(404);
      for (String path : List.of(mine, "/v1/runs", "/v1/receipts/" + NOBODYS)) {
        HttpResponse<byte[]> refused = get(gateway, path, liar);
        assertThat(refused.statusCode()).as(path).isEqualTo(401);
        assertThat(former(refused)).isEmpty();
        assertThat(cell(refused)).isEmpty();
      }
      assertThat(former(get(gateway, "/v1/openapi.json", liar)))
          .as("what needs no credential tells nothing of a tenant")
          .isEmpty();
    }
  }

  private void listsSayWhereElseThereIsSomething(Signer own) throws IOException {
    for (int gateway = 0; gateway < GATEWAYS; gateway++) {
      HttpResponse<byte[]> runs = get(gateway, "/v1/runs", own);
      assertThat(text(runs)).contains("\"run-2\"").doesNotContain("\"run-1\"");
      assertThat(former(runs)).contains(FORMER);
      assertThat(former(get(gateway, "/v1/effects", own))).contains(FORMER);
      HttpResponse<byte[]> rest = get(gateway, "/v1/runs", own, "Writ-Cell", FORMER);
      assertThat(text(rest)).contains("\"run-1\"").doesNotContain("\"run-2\"", "run-x");
      assertThat(former(rest)).as("only the tenant's cell says it").isEmpty();
    }
  }

  private void commandsFindIt(Agent.Answered before) throws IOException {
    String id = before.text("receipt_id");
    assertThat(gateways.done(0, "show", id).err()).contains(id);
    assertThat(gateways.done(0, "show", id.substring("sha256:".length()).substring(0, 12)).err())
        .contains(id);
    gateways.done(1, "output", id);
    assertThat(gateways.done(0, "--json", "receipts", "--run", "run-1").out()).contains(id);
    assertThat(gateways.writ(0, "receipts", "--run", "run-none").err()).contains("CLI-015");
    for (String list : List.of("runs", "receipts")) {
      Run listed = gateways.done(0, list);
      assertThat(listed.out()).contains("run-2").doesNotContain("run-1");
      assertThat(listed.err()).contains("--cell " + FORMER);
      assertThat(gateways.done(0, "--json", list).err()).doesNotContain("--cell");
    }
    assertThat(gateways.writ(0, "--cell", String.valueOf(SECOND), "show", id).err())
        .as("whoever names a cell asks that one")
        .contains("CLI-015");
    String bundle = dir.resolve("exported.writ").toString();
    gateways.done(0, "export", "run-1", "-o", bundle);
    gateways.done(0, "verify", bundle, "--trust", trust());
    gateways.done(0, "verify", "run-1", "--trust", trust());
    gateways.done(
        0, "export", "run-1", "--format", "cose-receipt", "-o", dir.resolve("cose").toString());
    assertThat(gateways.writ(0, "verify", "run-none").err()).contains("CLI-002");
  }

  /** Of a policy that one cell's record alone made, the others' calls would be refused. */
  private void aPolicyIsProposedOfAllCells() {
    assertThat(
            gateways
                .done(0, "policy", "propose", "-o", dir.resolve("proposed.yaml").toString())
                .out())
        .contains("3 calls of 1 operation");
    assertThat(
            gateways.done(0, "--cell", String.valueOf(SECOND), "policy", "propose", "--json").out())
        .contains("\"calls\":1,");
  }

  private void anOrderReachesEachOfItsCells() throws IOException {
    String second = String.valueOf(SECOND);
    assertThat(gateways.done(0, "erase", TENANT, "--run", "asked").out())
        .contains(
            "--cell " + second + " retention status", "--cell " + FORMER + " retention status")
        .doesNotContain("is the name right?");
    for (String cell : List.of(second, FORMER)) {
      gateways.await(
          "cell " + cell + " carries it out",
          () ->
              gateways
                  .done(0, "--cell", cell, "retention", "status")
                  .out()
                  .contains("erasure of run asked of local: carried out at"));
    }
    assertThat(gateways.done(0, "erase", TENANT, "--run", "run-none").out())
        .contains("--cell " + FORMER);
    gateways.await(
        "a second order waits for no ten minutes",
        () ->
            gateways
                .done(0, "--cell", FORMER, "retention", "status")
                .out()
                .contains("erasure of run run-none of local: carried out at"));
  }

  private void aFormerCellThatCannotAnswerIsNoUnknownId(
      Signer own, Agent.Answered before, Agent.Answered after) throws IOException {
    gateways.done(0, "cells", "regions", FORMER, "us-1");
    gateways.await("the former cell is far away", () -> gateways.owners().get(FIRST) == FAR);
    String mine = "/v1/receipts/" + before.text("receipt_id");
    gateways.await("it answers there", () -> get(0, mine, own).statusCode() == 200);
    gateways.kill(FAR);
    gateways.await(
        "every other cell has an owner",
        () -> {
          List<Integer> owners = gateways.owners();
          return owners.get(FIRST) == -1
              && List.of(0, 1).containsAll(List.of(owners.get(0), owners.get(SECOND)));
        });
    for (String path : List.of(mine, "/v1/receipts/" + NOBODYS)) {
      HttpResponse<byte[]> away = get(0, path, own);
      assertThat(away.statusCode()).as(text(away)).isEqualTo(503);
      assertThat(text(away)).contains("GWY-190", "cell " + FIRST + ", where the tenant was before");
      assertThat(away.headers().firstValue("Retry-After")).isPresent();
    }
    assertThat(get(0, "/v1/receipts/" + after.text("receipt_id"), own).statusCode()).isEqualTo(200);
    assertThat(gateways.done(0, "show", before.text("receipt_id")).err())
        .as("commands read the database")
        .contains(before.text("receipt_id"));
    gateways.done(0, "cells", "regions", FORMER, "us-1", "--elsewhere", "refuse");
    gateways.await("it is refused here", () -> get(0, mine, own).statusCode() == 421);
    assertThat(text(get(0, mine, own))).contains("GWY-197", "us-1");
    gateways.start(FAR);
    gateways.await("it has an owner", () -> get(FAR, mine, own).statusCode() == 200);
  }
}
