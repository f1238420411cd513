package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.verify.audit.Audit;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contents that are lost beside some that were deleted, and some that came back. */
class DeletedIsToldFromLostTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final Duration AGE = Duration.ofSeconds(61);
  private static final String RULES =
      TestPolicy.YAML
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention:
            rules: [ { name: minute, contents: [outputs], match: { tool: mail }, keep_s: 60 } ]
          """;

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir, RULES);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
  }

  @AfterEach
  void stop() {
    home.close();
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path opinions) {
    OPINION.compare(opinions);
  }

  private List<String> problems() {
    return Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {})
        .problems()
        .stream()
        .map(Object::toString)
        .toList();
  }

  private Receipt mail(int n) {
    return home.submit(home.ask("alice").tool("mail").params("{\"n\":" + n + "}"))
        .served()
        .orElseThrow()
        .receipt();
  }

  private static Digest output(Receipt receipt) {
    return receipt.output().orElseThrow().digest();
  }

  private long retain() {
    return home.kernel().contents().retain(home.kernel().now()).deleted().contents();
  }

  /** What nobody may: removes the bytes and states nothing. */
  private void lose(Digest content) {
    Ledger ledger = (Ledger) home.ledger();
    var nothing = new Ledger.Deletion(new Batch(), enqueue -> enqueue.get());
    assertThat(
            ledger.delete(
                List.of(content), ledger.treeSize(), home.clock.instant().plusSeconds(1), nothing))
        .isEmpty();
  }

  @Test
  void what_is_lost_in_the_middle_of_a_deletion_is_a_problem_and_what_is_deleted_is_none() {
    byte[] file = "a file".getBytes(StandardCharsets.UTF_8);
    Content input =
        home.kernel().contents().put(TestKeys.TENANT, new ByteArrayInputStream(file), "text/plain");
    home.submit(home.ask("alice").tool("sim").input("f", input.digest(), input.size()));
    Receipt deleted = mail(1);
    Receipt lost = mail(2);
    home.clock.forward(AGE);
    lose(output(lost));
    assertThat(retain()).isOne();
    assertThat(home.ledger().hasBlob(output(deleted))).isFalse();
    assertThat(problems())
        .singleElement()
        .asString()
        .contains("EXE-952", output(lost).toString(), "LED-030");
    assertThat(Refused.code(() -> Sample.bundle(home, Sample.RUN))).isEqualTo("RPL-053");
    lose(input.digest());
    lose(lost.observations().orElseThrow());
    assertThat(problems()) // these observations are those of all three effects
        .hasSize(5)
        .anyMatch(problem -> problem.contains(input.digest().toString()))
        .anyMatch(problem -> problem.contains(lost.observations().orElseThrow().toString()));
  }

  @Test
  void a_content_that_came_back_is_verified_with_its_statement_and_deleted_again() {
    home.driver.does("mail", Behaviours.gives("{\"ok\":true}", Behaviours.JSON));
    Digest same = output(mail(1));
    home.clock.forward(AGE);
    assertThat(retain()).isOne();
    assertThat(output(mail(2))).isEqualTo(same);
    assertThat(retain()).as("it is young").isZero();
    assertThat(home.ledger().hasBlob(same)).isTrue();
    assertThat(problems()).isEmpty();
    byte[] back = Sample.bundle(home, Sample.RUN);
    assertThat(OPINION.pinned(back).verified())
        .anyMatch(line -> line.startsWith("1 contents: deleted"));
    assertThat(Packed.read(back)).containsKey("blobs/" + same.hex());
    home.clock.forward(AGE);
    assertThat(retain()).isOne();
    assertThat(problems()).isEmpty();
    List<Deletion> statements =
        home.events(Deletion.RUN.tenant(), Deletion.RUN.run()).stream()
            .map(event -> Deletion.read(home.document(event.body()).document()))
            .toList();
    assertThat(statements)
        .hasSize(2)
        .allSatisfy(statement -> assertThat(statement.contents()).hasSize(1));
    assertThat(OPINION.pinned(Sample.bundle(home, Sample.RUN)).pinned()).isTrue();
  }
}
