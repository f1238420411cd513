package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An operator with two histories of one log, and those who find out (spec/witness.md). */
class WitnessesFindAForkTest {
  @TempDir Path dir;
  private String home;
  private String log;

  @BeforeEach
  void installation() {
    home = dir.resolve("data").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
    work(home, "main", "6*7");
    log = ok("--home", home, "checkpoint", "--vkey").strip();
  }

  private static String ok(String... args) {
    Run run = Run.of(args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run.out();
  }

  private static void work(String home, String run, String source) {
    ok("--home", home, "run", "js", "--run", run, "--param", "source=" + source);
  }

  private static void refused(Run run, ExitCode status, String... says) {
    assertThat(run.out() + run.err()).contains(says);
    assertThat(run.status()).as(run.out() + run.err()).isEqualTo(status.status());
  }

  private WitnessHere witness(String name) throws IOException {
    return new WitnessHere(dir.resolve(name), "--name", name + ".example/w", "--log", log);
  }

  /** The operator's other installation, with the same keys, from here on. */
  private String secondHistory() throws IOException {
    Path other = dir.resolve("second");
    try (Stream<Path> all = Files.walk(Path.of(home))) {
      for (Path file : all.toList()) {
        Files.copy(file, other.resolve(Path.of(home).relativize(file)));
      }
    }
    Files.copy(Path.of(home + ".anchor"), Path.of(other + ".anchor"));
    return other.toString();
  }

  private String ask(String from, String file, WitnessHere... witnesses) {
    return ok(asking(from, file, witnesses));
  }

  private String[] asking(String from, String file, WitnessHere... witnesses) {
    Stream<String> fixed =
        Stream.of("--home", from, "witness", "ask", "-o", dir.resolve(file).toString());
    return Stream.concat(fixed, Stream.of(witnesses).flatMap(w -> Stream.of(w.url, "--key", w.key)))
        .toArray(String[]::new);
  }

  private String file(String name) {
    return dir.resolve(name).toString();
  }

  @Test
  void aFreshCheckpointIsCosignedAgainAndAgain() throws Exception {
    String before;
    try (WitnessHere one = witness("one");
        WitnessHere two = witness("two")) {
      assertThat(ask(home, "first.txt", one, two))
          .contains("one.example/w saw the log of size ", "two.example/w saw the log of size ");
      work(home, "more", "7*8");
      ask(home, "second.txt", two, one);
      Checkpoint second = Checkpoint.parse(Files.readAllBytes(dir.resolve("second.txt")));
      for (WitnessHere w : new WitnessHere[] {one, two}) {
        assertThat(Cosignature.of(second, WitnessKey.parse(w.key))).isPresent();
      }
      assertThat(second.size())
          .isGreaterThan(Checkpoint.parse(Files.readAllBytes(dir.resolve("first.txt"))).size());
      before = one.key;
      refused(
          Run.of(asking(home, "second.txt", one)), ExitCode.UNAVAILABLE, "CLI-023", "second.txt");
    }
    try (WitnessHere again = new WitnessHere(dir.resolve("one"), "--log", log)) {
      assertThat(again.key).as("its name and key are kept").isEqualTo(before);
      ask(home, "third.txt", again);
    }
    refused(
        Run.of("witness", "serve", "--dir", file("one"), "--name", "x", "--log", log),
        ExitCode.USAGE,
        "is one.example/w");
  }

  @Test
  void theWitnessRefusesTheSecondHistory() throws Exception {
    try (WitnessHere witness = witness("one")) {
      String second = secondHistory();
      work(home, "shown-to-a", "1+1");
      ask(home, "a.txt", witness);
      refused(
          Run.of(asking(second, "b.txt", witness)),
          ExitCode.BROKEN_INPUT,
          "CLI-101",
          "has seen",
          "/checkpoint");
      for (int i = 0; i < 2; i++) {
        work(second, "shown-to-b-" + i, "2+2");
      }
      refused(
          Run.of(asking(second, "b.txt", witness)),
          ExitCode.BROKEN_INPUT,
          "CLI-101",
          "another history");
      assertThat(dir.resolve("b.txt")).doesNotExist();
      work(home, "shown-to-a-again", "3+3");
      ask(home, "a2.txt", witness);
    }
  }

  @Test
  void aWitnessThatSeesAForkOutweighsTheOthers() throws Exception {
    try (WitnessHere honest = witness("one");
        WitnessHere other = witness("two")) {
      String second = secondHistory();
      work(home, "shown-to-a", "1+1");
      ask(home, "a.txt", honest);
      refused(
          Run.of(
              Stream.concat(
                      Stream.of(asking(second, "b.txt", other, honest)), Stream.of("--quorum", "1"))
                  .toArray(String[]::new)),
          ExitCode.BROKEN_INPUT,
          "CLI-101");
    }
  }

  @Test
  void twoAuditorsWithCheckpointsOfDifferentWitnessesFindIt() throws Exception {
    try (WitnessHere one = witness("one");
        WitnessHere two = witness("two")) {
      String second = secondHistory();
      work(home, "shown", "1+1");
      ask(home, "a.txt", one);
      work(second, "shown", "2+2");
      ask(second, "b.txt", two);
      String[] compare = {
        "witness",
        "compare",
        file("a.txt"),
        file("b.txt"),
        "--log",
        log,
        "--key",
        one.key,
        "--key",
        two.key
      };
      refused(
          Run.of(compare),
          ExitCode.BROKEN_INPUT,
          "RPL-042",
          "a.txt was seen by one.example/w at ",
          "b.txt was seen by two.example/w at ");
      refused(
          Run.of("witness", "compare", file("a.txt"), file("b.txt")), ExitCode.USAGE, "--log=VKEY");
      compare[3] = compare[2];
      assertThat(ok(compare)).contains("one history");
      work(home, "more", "3+3");
      ask(home, "c.txt", one);
      compare[3] = file("c.txt");
      refused(Run.of(compare), ExitCode.UNAVAILABLE, "RPL-086");
      compare[5] = two.key;
      refused(Run.of(compare), ExitCode.BROKEN_INPUT, "LED-055");
    }
  }

  private String[] verifying(String bundle, String note, String... more) {
    return Stream.concat(
            Stream.of(
                "verify",
                file(bundle),
                "--trust",
                Path.of(home).resolve("trust.jwks").toString(),
                "--checkpoint",
                file(note)),
            Stream.of(more))
        .toArray(String[]::new);
  }

  private void export(String from, String note, String bundle) {
    ok("--home", from, "export", "main", "--checkpoint", file(note), "-o", file(bundle));
  }

  /** Each auditor asks for the cosignature of the one witness that both know. */
  @Test
  void twoAuditorsWhoAskForTheSameWitnessAreShownTheSameHistory() throws Exception {
    ok("--home", home, "close", "main");
    try (WitnessHere witness = witness("one");
        WitnessHere other = witness("two")) {
      String second = secondHistory();
      work(home, "shown", "1+1");
      ask(home, "a.txt", witness);
      export(home, "a.txt", "a.writ");
      String[] first = verifying("a.writ", "a.txt", "--witness", witness.key);
      assertThat(ok(first)).contains("witness one.example/w: saw the log of size ");
      assertThat(
              ok(
                  verifying(
                      "a.writ",
                      "a.txt",
                      "--witness",
                      witness.key,
                      "--witness",
                      other.key,
                      "--quorum",
                      "1")))
          .contains("not verified  that witness two.example/w saw");
      refused(
          Run.of(verifying("a.writ", "a.txt", "--witness", other.key)),
          ExitCode.BROKEN_INPUT,
          "RPL-085");

      // What the operator shows the second auditor is no less valid, but no witness has seen it.
      work(second, "shown", "2+2");
      Files.writeString(dir.resolve("b.txt"), ok("--home", second, "checkpoint"));
      export(second, "b.txt", "b.writ");
      assertThat(ok(verifying("b.writ", "b.txt"))).contains("verified: the run is closed");
      refused(
          Run.of(verifying("b.writ", "b.txt", "--witness", witness.key)),
          ExitCode.BROKEN_INPUT,
          "RPL-085",
          "0 of 1");
      // And the checkpoint of the first does not fit the bundle of the second.
      refused(
          Run.of(verifying("b.writ", "a.txt", "--witness", witness.key)),
          ExitCode.BROKEN_INPUT,
          "RPL-042");
    }
  }

  /** verify.mjs and the report take the same options, and say the same. */
  @Test
  void theSecondVerifierAndTheReportNameTheWitnesses() throws Exception {
    ok("--home", home, "close", "main");
    try (WitnessHere witness = witness("one");
        WitnessHere other = witness("two")) {
      ask(home, "a.txt", witness);
      export(home, "a.txt", "a.writ");
      ok("report", "--verifier", "-o", file("verify.mjs"));
      String seen = node(0, verifying("a.writ", "a.txt", "--witness", witness.key));
      assertThat(seen)
          .contains(
              ok(verifying("a.writ", "a.txt", "--witness", witness.key))
                  .lines()
                  .filter(line -> line.contains("saw the log"))
                  .findFirst()
                  .orElseThrow()
                  .replaceFirst("verified +", "verified: "));
      String[] both =
          verifying("a.writ", "a.txt", "--witness", witness.key, "--witness", other.key);
      assertThat(node(4, both)).contains("RPL-085");
      assertThat(node(2, verifying("a.writ", "a.txt", "--quorum", "1"))).contains("usage");
      refused(Run.of(verifying("a.writ", "a.txt", "--quorum", "1")), ExitCode.USAGE, "--quorum");
      String[] page = verifying("a.writ", "a.txt", "-o", file("a.html"), "--witness", witness.key);
      page[0] = "report";
      ok(page);
      assertThat(Files.readString(dir.resolve("a.html"))).contains(witness.key);
      page[page.length - 1] = other.key;
      page[page.length - 3] = file("b.html");
      refused(Run.of(page), ExitCode.BROKEN_INPUT, "RPL-085");
      assertThat(dir.resolve("b.html")).doesNotExist();
    }
  }

  private String node(int status, String... verifying) throws Exception {
    List<String> command = new ArrayList<>(List.of("node", file("verify.mjs")));
    command.addAll(List.of(verifying).subList(1, verifying.length));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isEqualTo(status);
    return out;
  }

  @Test
  void whoIsNoWitnessOfThisLogIsTold() throws Exception {
    try (WitnessHere witness =
        new WitnessHere(
            dir.resolve("other"),
            "--name",
            "other.example/w",
            "--log",
            "writ.example/log+7b415bdf+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c")) {
      refused(Run.of(asking(home, "x.txt", witness)), ExitCode.REFUSED, "CLI-102", "404");
      URI unknown = URI.create(witness.url + "/" + "0".repeat(64) + "/checkpoint");
      try (HttpClient client = HttpClient.newHttpClient()) {
        HttpResponse<String> none =
            client.send(
                HttpRequest.newBuilder(unknown).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(none.statusCode()).isEqualTo(404);
        HttpResponse<String> large =
            client.send(
                HttpRequest.newBuilder(URI.create(witness.url + "/add-checkpoint"))
                    .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[300 << 10]))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(large.statusCode()).isEqualTo(413);
      }
    }
    String strange = "witness.example/w1+3a7c4813+BCCCi/XFvcrLaEhjM2wgL7VZnaSL5VlmFXQhcHBb7Kn3";
    try (WitnessHere witness = witness("one")) {
      refused(
          Run.of("--home", home, "witness", "ask", witness.url, "--key", strange),
          ExitCode.UNAVAILABLE,
          "CLI-100",
          "0 of 1");
      refused(
          Run.of(
              "--home",
              home,
              "witness",
              "ask",
              witness.url,
              "--key",
              witness.key,
              "--key",
              strange),
          ExitCode.UNAVAILABLE,
          "CLI-100",
          "1 of 2");
      assertThat(
              Run.of(
                      "--home",
                      home,
                      "witness",
                      "ask",
                      witness.url,
                      "--key",
                      witness.key,
                      "--key",
                      strange,
                      "--quorum",
                      "1")
                  .status())
          .isZero();
    }
    for (String prefix : List.of("", "/", "/witness/1")) {
      refused(
          Run.of("--home", home, "witness", "ask", "http://127.0.0.1:9" + prefix, "--key", strange),
          ExitCode.UNAVAILABLE,
          "CLI-103");
    }
    refused(
        Run.of(
            "witness", "serve", "--dir", file("w"), "--name", "w", "--log", log, "--host",
            "0.0.0.0"),
        ExitCode.REFUSED,
        "GWY-003");
  }
}
