package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ stamp ask} and {@code writ verify --stamp}, with an authority of OpenSSL. */
class CheckpointsAreStampedTest {
  private static final String WITNESS =
      "witness.example/w1+3a7c4813+BCCCi/XFvcrLaEhjM2wgL7VZnaSL5VlmFXQhcHBb7Kn3";

  @TempDir Path dir;
  private OneHome home;

  @BeforeEach
  void installation() throws IOException {
    home = new OneHome(dir.resolve("data"), Map.of());
    home.done("init");
    home.done("run", "js", "--run", "main", "--param", "source=6*7");
    home.done("close", "main");
    Files.writeString(dir.resolve("a.txt"), home.done("checkpoint").out());
    home.done("export", "main", "--checkpoint", file("a.txt"), "-o", file("a.writ"));
  }

  private String file(String name) {
    return dir.resolve(name).toString();
  }

  private static void refused(Run run, int status, String... says) {
    assertThat(run.out() + run.err()).contains(says);
    assertThat(run.status()).as(run.out() + run.err()).isEqualTo(status);
  }

  private Run verify(String note, String... more) {
    return home.writ(
        Stream.concat(
                Stream.of(
                    "verify",
                    file("a.writ"),
                    "--trust",
                    file("data/trust.jwks"),
                    "--checkpoint",
                    file(note)),
                Stream.of(more))
            .toArray(String[]::new));
  }

  @Test
  void aStampIsKeptBesideTheCheckpointAndVerifiedOffline() throws Exception {
    String authority;
    try (StampServer server = new StampServer(dir.resolve("tsa"))) {
      authority = server.certificate();
      assertThat(
              home.done("stamp", "ask", file("a.txt"), server.url(), "--tsa-ca", authority).out())
          .contains(
              "time stamp of CN=tsa.example: the log had size ", "at the latest", "a.txt.tsr");
      assertThat(
              server.authority.run(
                  "openssl ts -verify -data "
                      + file("a.txt")
                      + " -in "
                      + file("a.txt.tsr")
                      + " -CAfile ca.pem"))
          .contains("Verification: OK");
      refused(
          home.writ("stamp", "ask", file("a.txt"), server.url(), "--tsa-ca", authority),
          6,
          "CLI-023");
    }
    for (String url : new String[] {"http://[", "http://a:b/", "http://:80/"}) {
      refused(home.writ("stamp", "ask", file("a.txt"), url, "--tsa-ca", authority), 2, "CLI-001");
      refused(home.writ("witness", "ask", url, "--key", WITNESS), 2, "CLI-001");
    }
    String[] stamp = {"--stamp", file("a.txt.tsr"), "--tsa-ca", authority};
    Run verified = verify("a.txt", stamp);
    refused(verified, 0, "verified      time stamp of CN=tsa.example: the log had size ");
    assertThat(verify("a.txt", "--json", stamp[0], stamp[1], stamp[2], stamp[3]).out())
        .contains("\"stamps\":[{\"by\":\"CN=tsa.example\",\"time\":");
    refused(verify("a.txt", stamp[0], stamp[1]), 2, "--tsa-ca");
    refused(verify("a.txt", stamp[2], stamp[3]), 2, "--tsa-ca");
    // Another checkpoint, of the same log: larger, and no less valid.
    home.done("run", "js", "--run", "more", "--param", "source=6*7");
    Files.writeString(dir.resolve("b.txt"), home.done("checkpoint").out());
    home.done("export", "main", "--checkpoint", file("b.txt"), "-o", file("b.writ"));
    Run other =
        home.writ(
            "verify",
            file("b.writ"),
            "--trust",
            file("data/trust.jwks"),
            "--checkpoint",
            file("b.txt"),
            stamp[0],
            stamp[1],
            stamp[2],
            stamp[3]);
    refused(other, 4, "RPL-088");
    // A bundle without the proof: what was stamped is not shown to cover it.
    home.done("export", "main", "-o", file("c.writ"));
    Files.move(dir.resolve("c.writ"), dir.resolve("a.writ"), StandardCopyOption.REPLACE_EXISTING);
    refused(verify("b.txt", stamp), 4, "RPL-088", "no proof");
  }

  @Test
  void theReportAndTheSecondVerifierSayWhatTheyDoNotCheck() throws Exception {
    try (StampServer server = new StampServer(dir.resolve("tsa"))) {
      home.done("stamp", "ask", file("a.txt"), server.url(), "--tsa-ca", server.certificate());
      String[] report = {
        "report", file("a.writ"), "-o", file("a.html"), "--trust", file("data/trust.jwks"),
        "--checkpoint", file("a.txt"), "--stamp", file("a.txt.tsr"), "--tsa-ca",
            server.certificate()
      };
      home.done(report);
      assertThat(Files.readString(dir.resolve("a.html")))
          .contains("time stamp of CN=tsa.example: the log had size ", "as writ report found");
      StampServer other = new StampServer(dir.resolve("other"));
      other.close();
      report[report.length - 1] = other.certificate();
      report[3] = file("b.html");
      refused(home.writ(report), 4, "RPL-089");
      assertThat(dir.resolve("b.html")).doesNotExist();
    }
    home.done("report", "--verifier", "-o", file("verify.mjs"));
    List<String> command = new ArrayList<>(List.of("node", file("verify.mjs"), file("a.writ")));
    command.addAll(List.of("--trust", file("data/trust.jwks"), "--stamp", file("a.txt.tsr")));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
    assertThat(out).contains("not verified: the time stamp ", "RFC 3161");
  }

  @Test
  void anAuthorityThatIsNotReachedFromHereIsAskedByFiles() throws Exception {
    try (StampServer server = new StampServer(dir.resolve("tsa"))) {
      home.done("stamp", "ask", file("a.txt"), "--request", file("a.tsq"));
      Files.write(
          dir.resolve("a.tsr"), server.authority.reply(Files.readAllBytes(dir.resolve("a.tsq"))));
      String[] taking = {
        "stamp",
        "ask",
        file("a.txt"),
        "--request",
        file("a.tsq"),
        "--response",
        file("a.tsr"),
        "--tsa-ca",
        server.certificate()
      };
      home.done(taking);
      assertThat(dir.resolve("a.txt.tsr")).hasSameBinaryContentAs(dir.resolve("a.tsr"));
      Files.delete(dir.resolve("a.txt.tsr"));
      home.done("stamp", "ask", file("a.txt"), "--request", file("other.tsq"));
      taking[4] = file("other.tsq");
      refused(home.writ(taking), 4, "RPL-088", "nonce");
      assertThat(dir.resolve("a.txt.tsr")).doesNotExist();
      assertThat(server.asked).hasValue(0);
    }
    refused(home.writ("stamp", "ask", file("a.txt")), 2, "--request");
    refused(
        home.writ("stamp", "ask", file("a.txt"), "http://127.0.0.1:9/", "--request", file("q")),
        2,
        "--request");
  }

  @Test
  void anAnswerToAnotherQuestionIsNotKept() throws Exception {
    try (StampServer server = new StampServer(dir.resolve("tsa"))) {
      home.done("stamp", "ask", file("a.txt"), "--request", file("before.tsq"));
      byte[] before = Files.readAllBytes(dir.resolve("before.tsq"));
      server.answering(_ -> before); // an old reply, played again
      String[] ask = {
        "stamp", "ask", file("a.txt"), server.url(), "--tsa-ca", server.certificate()
      };
      refused(home.writ(ask), 4, "RPL-088", "nonce");
      server.answering(_ -> new byte[0]);
      refused(home.writ(ask), 4, "RPL-087", "status 2");
      ask[3] = server.url().replace("/tsr", "/none");
      refused(home.writ(ask), 6, "CLI-106", "404");
      ask[3] = "http://127.0.0.1:9/tsr";
      refused(home.writ(ask), 6, "CLI-106");
      assertThat(dir.resolve("a.txt.tsr")).doesNotExist();
    }
  }
}
