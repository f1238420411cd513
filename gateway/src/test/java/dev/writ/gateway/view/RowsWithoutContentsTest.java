package dev.writ.gateway.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.Kernel;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.note.Checkpoint;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Who sees that something happened does not learn by that what it was given and gave; and who reads
 * everything cannot ask for it again.
 */
class RowsWithoutContentsTest {
  private static final String SECRET = "marzipan";

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  /** Somebody in the tenant acme. */
  private record Somebody(boolean seesContents, boolean mayAct) implements Sight {
    @Override
    public Optional<String> tenant() {
      return Optional.of("acme");
    }

    @Override
    public boolean rows(Scope scope) {
      return true;
    }

    @Override
    public boolean contents(Scope scope) {
      return seesContents;
    }

    @Override
    public boolean signedRequests(Scope scope) {
      return mayAct;
    }

    @Override
    public boolean approves() {
      return false;
    }
  }

  private static final Sight VIEWER = new Somebody(false, false);
  private static final Sight AUDITOR = new Somebody(true, false);

  private record Around(Kernel kernel) implements Surround {
    @Override
    public Trust trust() {
      return kernel.system().trust();
    }

    @Override
    public Optional<Checkpoint> covering(long size) {
      return Optional.of(kernel.checkpoint());
    }

    @Override
    public Optional<PolicyExplain> explained(Digest request) {
      return kernel.explanations().explained(request);
    }

    @Override
    public Optional<Guidance> guidance(Digest request) {
      return kernel.explanations().guidance(request);
    }
  }

  private Envelope submitted(String tool, String params) {
    Envelope request = home.ask("alice").tool(tool).params(params).sign();
    home.submit(request);
    return request;
  }

  private JsonValue.Obj story(Envelope request, Sight sight) {
    return new Effects(home.ledger())
        .detail(request.id(), sight, new Around(home.kernel()))
        .orElseThrow()
        .toJson();
  }

  private static String text(JsonValue json) {
    return new String(Jcs.write(json), StandardCharsets.UTF_8);
  }

  private List<EffectPage.Shown> found(String text, Sight sight) {
    EffectQuery all = EffectQuery.newest(10);
    return new Effects(home.ledger())
        .page(
            new EffectQuery(
                10,
                all.before(),
                all.after(),
                all.run(),
                all.subject(),
                all.tool(),
                all.verdict(),
                all.state(),
                all.code(),
                all.from(),
                all.to(),
                Optional.of(text)),
            sight)
        .effects();
  }

  @Test
  void a_viewer_sees_the_row_and_the_proof_that_it_happened_and_nothing_of_the_contents() {
    String params = "{\"forbidden\":\"" + SECRET + "\"}";
    for (Envelope request :
        List.of(
            submitted("mail", "{\"a\":\"" + SECRET + "\"}"),
            submitted("mail", params),
            submitted("pay", params))) {
      JsonValue.Obj story = story(request, VIEWER);
      assertThat(story.get("withheld")).isEqualTo(JsonValue.TRUE);
      assertThat(story.members())
          .containsOnlyKeys(
              "effect",
              "withheld",
              "policy_digest",
              "events",
              "events_complete",
              "proofs",
              "checkpoint",
              "keys",
              "chain");
      assertThat(text(story))
          .doesNotContain(SECRET, "signatures", "payload", "reason", "forbidden");
    }
  }

  @Test
  void nobody_finds_out_what_parameters_hold_by_searching_for_it() {
    submitted("mail", "{\"a\":\"" + SECRET + "\"}");
    submitted("mail", "{\"forbidden\":1}");
    assertThat(found(SECRET, AUDITOR)).hasSize(1);
    assertThat(found(SECRET, VIEWER)).isEmpty();
    assertThat(found("has(params", AUDITOR)).as("in the reason").hasSize(1);
    assertThat(found("has(params", VIEWER)).isEmpty();
    assertThat(found("MAIL", VIEWER)).as("names are seen").hasSize(2);
  }

  @Test
  void who_may_only_read_gets_no_request_that_could_be_submitted() {
    Envelope waits = submitted("pay", "{\"n\":1}");
    assertThat(text(story(waits, AUDITOR).get("request")))
        .contains("\"payload\":")
        .doesNotContain("signatures");
    assertThat(text(story(waits, AUDITOR).get("decision"))).contains("signatures");
    assertThat(text(story(waits, Sight.ALL).get("request"))).contains("signatures");

    home.approve(waits, "rita");
    assertThat(text(story(waits, AUDITOR).get("request"))).doesNotContain("signatures");
    home.submit(waits);
    assertThat(text(story(waits, AUDITOR).get("request"))).contains("signatures");
  }

  @Test
  void another_tenants_effects_are_not_there_whatever_may_be_seen() {
    Envelope foreign = home.ask("eve").tenant("other").tool("mail").sign();
    home.submit(foreign);
    assertThat(new Effects(home.ledger()).find(foreign.id(), AUDITOR)).isEmpty();
    assertThat(found("mail", AUDITOR)).isEmpty();
    assertThat(found("mail", Sight.ALL)).hasSize(1);
  }
}
