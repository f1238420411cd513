package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.stage.StoreStage;
import dev.writ.fixture.TestHome;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.ledger.error.LedgerError;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The receipt of an effect whose output cannot be stored has {@code EXE-702}; the log and the
 * metrics say by what it cannot be.
 */
class WhatCannotBeStoredIsLoggedByItsCauseTest {
  private static final String SERIES = "writ_contents_not_stored_total";

  @TempDir Path dir;

  @Test
  void byTheCodeOfTheStoreAndUnforeseenWhereItHasNone() throws Exception {
    AtomicReference<RuntimeException> fault =
        new AtomicReference<>(new WritException(LedgerError.CONTENTS_FOLDER, "/mnt/contents"));
    TestHome home = TestGateway.newHome(dir);
    home.restartWith(executor ->
        KernelSeam.with(
            executor,
            new StoreStage((_, _, _) -> {
              throw fault.get();
            })));
    try (WholeGateway server =
        new WholeGateway(
            home,
            "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n"
                + WholeGateway.token("alices", "alice", ""),
            dir)) {
      server.post("alices", "/test/r/calc", "{\"secret\":\"of the payload\"}");
      server.post("alices", "/test/r/mail", "{}");
      fault.set(new IllegalStateException("a message that may hold anything"));
      server.post("alices", "/test/s/calc", "{}");
      assertThat(server.send(server.to("/metrics").GET()).body())
          .contains(SERIES + "{code=\"LED-085\"} 2.0", SERIES + "{code=\"other\"} 1.0");
      server.gateway.close(); // lines are written after their answers
      assertThat(server.logged())
          .filteredOn(line -> JsonValue.of("content-not-stored").equals(line.get("event")))
          .hasSize(2)
          .allSatisfy(line -> {
            assertThat(line.get("level")).isEqualTo(JsonValue.of("error"));
            assertThat(line.get("code")).isEqualTo(JsonValue.of("LED-085"));
            assertThat(line.get("detail")).isEqualTo(JsonValue.of("/mnt/contents"));
          });
      assertThat(server.logged())
          .filteredOn(line -> JsonValue.of("execution").equals(line.get("event")))
          .extracting(line -> line.get("code"))
          .hasSize(3)
          .containsOnly(JsonValue.of("EXE-702"));
      assertThat(server.logged())
          .filteredOn(line -> JsonValue.of("unforeseen").equals(line.get("event")))
          .hasSize(1);
      assertThat(server.logged().toString()).doesNotContain("payload", "hold anything");
    }
  }
}
