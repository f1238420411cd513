package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ serve} with a section {@code checkpoints}, as operators and auditors meet it. */
class AServerPublishesItsCheckpointsTest {
  @TempDir Path dir;

  private void configure(String folder, String token, WitnessHere witness) throws Exception {
    Files.writeString(
        dir.resolve("gateway.yaml"),
        """
        writ_gateway: 1
        tokens: [ { name: desk, digest: "%s", tenant: local, subject: approver } ]
        checkpoints:
          every_s: 1
          folder: %s
          witnesses: [ { url: "%s", key: "%s" } ]
        """
            .formatted(Tokens.digest(token), folder, witness.url, witness.key));
  }

  private String hangUp(Process server, String until) throws Exception {
    return Pasted.into(dir, "kill -HUP " + server.pid() + "; until " + until + "; do :; done");
  }

  @Test
  void auditorsFindWhatWitnessesSawAndASignalChangesThePlace() throws Exception {
    OneHome home = new OneHome(dir.resolve("home"), Map.of());
    home.done("init");
    home.done("run", "js", "--run", "main", "--param", "source=6*7");
    home.done("close", "main");
    for (String folder : List.of("a", "b")) {
      Files.createDirectory(dir.resolve(folder));
    }
    String token = Tokens.generate(new SecureRandom());
    try (WitnessHere witness =
        new WitnessHere(
            dir.resolve("witness"),
            "--name",
            "one.example/w",
            "--log",
            home.done("checkpoint", "--vkey").out().strip())) {
      configure("a", token, witness);
      Process server =
          new ProcessBuilder(
                  OwnProcess.writ(
                      "--home",
                      dir.resolve("home").toString(),
                      "serve",
                      "--json",
                      "--port",
                      "0",
                      "--config",
                      dir.resolve("gateway.yaml").toString()))
              .redirectError(dir.resolve("log").toFile())
              .start();
      try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
        JsonValue.Obj said =
            (JsonValue.Obj) Jcs.parse(out.readLine().getBytes(StandardCharsets.UTF_8));
        String url = ((JsonValue.Str) said.get("url")).value();
        Pasted.into(dir, "until test -f a/latest.txt; do :; done");
        byte[] note = Files.readAllBytes(dir.resolve("a/latest.txt"));
        assertThat(dir.resolve("a/" + Checkpoint.parse(note).size() + ".txt"))
            .hasBinaryContent(note);
        verified(home, witness);
        String curl = "curl -sS -H 'Authorization: Bearer " + token + "' " + url;
        assertThat(Pasted.into(dir, curl + "/v1/operations/checkpoints"))
            .contains("one.example/w", "\"kind\":\"folder\"", "\"quorum\":1", "\"whole_at\"")
            .doesNotContain("trouble", dir.toString());
        assertThat(Pasted.into(dir, curl + "/metrics"))
            .contains("writ_checkpoints_published_total 1")
            .contains("writ_checkpoints_failures_total{party=\"folder\"} 0");

        // What cannot be used changes nothing.
        configure("none", token, witness);
        hangUp(server, "grep -q GWY-002 log");
        configure("b", token, witness);
        hangUp(server, "test -f b/latest.txt");
        Checkpoint moved = Checkpoint.parse(Files.readAllBytes(dir.resolve("b/latest.txt")));
        assertThat(moved.note().text()).isEqualTo(Checkpoint.parse(note).note().text());
        assertThat(Cosignature.of(moved, WitnessKey.parse(witness.key))).isPresent();
      } finally {
        server.destroy();
      }
      assertThat(server.waitFor()).isEqualTo(143);
    }
    home.done("fsck");
  }

  private void verified(OneHome home, WitnessHere witness) {
    String note = dir.resolve("a/latest.txt").toString();
    String bundle = dir.resolve("main.writ").toString();
    home.done("export", "main", "--checkpoint", note, "-o", bundle);
    assertThat(
            home.done(
                    "verify",
                    bundle,
                    "--trust",
                    dir.resolve("home/trust.jwks").toString(),
                    "--checkpoint",
                    note,
                    "--witness",
                    witness.key)
                .out())
        .contains("witness one.example/w: saw the log of size ");
  }
}
