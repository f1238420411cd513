package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Open runs of several subjects, for whom a surface vouches. */
public final class SharedRun {
  private static final String VOUCHED =
      TestPolicy.YAML
          .replace(
              "subject: alice, roles: [worker]",
              "subject: alice, roles: [reader, worker], surfaces: [mcp]")
          .replace(
              "subject: bob, roles: [worker]",
              "subject: bob, roles: [reader, worker], surfaces: [mcp]")
          .replace(
              "  stand-in:\n",
              """
                reader:
                  tools: []
                  resources: { cpu_ms: 0, memory_bytes: 0, output_bytes: 0, wall_ms: 0 }
                  sandboxes: []
                stand-in:
              """);
  private static final String SHARED =
      VOUCHED
          + "runs: { idle_max_s: 60, shared_by: [ { tenant: acme, surfaces: [mcp], roles: [reader]"
          + " } ] }\n";

  private SharedRun() {}

  public static TestHome home(Path dir) {
    TestHome home = TestHome.create(dir);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.enrol(TestKeys.trusted("mcp", KeyRole.SURFACE, Optional.of(TestKeys.TENANT)));
    home.activate(SHARED);
    return home;
  }

  private static Envelope vouched(
      TestHome home, String subject, Optional<String> named, Optional<List<String>> roles) {
    Request plain = home.ask(subject).run(named.isPresent() ? "refusals" : "run-1").request();
    Request request =
        new Request(
            plain.scope(),
            plain.effect(),
            plain.consumes(),
            plain.idempotencyKey(),
            plain.nonce(),
            plain.requestedAt(),
            plain.retention(),
            plain.context(),
            Optional.of(
                new Origin(
                    "mcp",
                    "bearer",
                    "token",
                    Digest.sha256(new byte[0]),
                    Optional.empty(),
                    named,
                    roles)),
            plain.evidence(),
            plain.delegations());
    return Envelope.sign(Request.TYPE, request.toJson(), TestKeys.key("mcp"));
  }

  private static Envelope vouched(TestHome home, String subject) {
    return vouched(home, subject, Optional.empty(), Optional.empty());
  }

  /** Alice begins it, and bob may take part. */
  public static void taken(TestHome home) {
    for (String who : List.of("alice", "bob", "alice")) {
      assertThat(home.submit(vouched(home, who)).decision().verdict()).isEqualTo(Verdict.ALLOW);
    }
    home.restart();
    assertThat(home.submit(vouched(home, "bob")).decision().verdict()).isEqualTo(Verdict.ALLOW);
  }

  /** What is refused is not in the run, and what waited is denied in it. */
  public static void refused(TestHome home) {
    home.activate(VOUCHED);
    home.submit(vouched(home, "alice"));
    int events = home.events(TestKeys.TENANT, "run-1").size();
    assertThat(Refused.code(() -> home.submit(vouched(home, "bob")))).isEqualTo("GRD-721");
    assertThat(home.events(TestKeys.TENANT, "run-1")).hasSize(events);
    assertThat(
            home.submit(vouched(home, "bob", Optional.of("case-7"), Optional.empty())).decision())
        .satisfies(d -> assertThat(d.code()).contains("GRD-721"));
    home.activate(SHARED);
    Answer decided = home.decide(vouched(home, "bob"));
    assertThat(decided.decision().verdict()).isEqualTo(Verdict.ALLOW);
    Envelope again = home.document(decided.request());
    home.activate(VOUCHED); // its snapshot is gone, and policy shares no more
    Answer denied = home.submit(again);
    assertThat(denied.decision().verdict()).isEqualTo(Verdict.DENY);
    assertThat(denied.decision().code()).contains("GRD-721");
  }
}
