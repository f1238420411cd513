package dev.writ.verify.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.Ledger;
import dev.writ.verify.audit.Audit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * All contents of a subject are erased by one order, and those of another one stay. It prints the
 * figures of spec/retention.md: what an order takes, and what an effect with sealed contents takes
 * beside one without.
 */
class AnErasureReachesEveryContentTest {
  private static final boolean LONG = ArchiveFigures.LONG;
  private static final List<Integer> EFFECTS = ArchiveFigures.effects(600);
  private static final int OF_A_RUN = LONG ? 100 : 10;
  private static final int OUTPUT = LONG ? ArchiveFigures.outputBytes(20_000) : 4000;
  private static final String CLEAR = TestPolicy.YAML;
  private static final String SEALED =
      CLEAR
          + "retention: { rules: [], sealed: { contents: [inputs, outputs, observations,"
          + " artifacts], by: subject } }\n";

  @TempDir Path dir;
  private final Random random = new Random(7);

  private static long bytes(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  /** Its output's digest. */
  private Digest effect(TestHome home, String subject, int number) {
    byte[] content = new byte[OUTPUT / 4 * 3];
    random.nextBytes(content);
    home.driver.does(
        "mail", Behaviours.gives(Base64.getEncoder().encodeToString(content), "text/plain"));
    Receipt receipt =
        home.submit(
                home.ask(subject)
                    .tool("mail")
                    .operation("text")
                    .run(subject + "-" + number / OF_A_RUN))
            .served()
            .orElseThrow()
            .receipt();
    return receipt.output().orElseThrow().digest();
  }

  @Test
  void an_order_of_one_subject() throws IOException {
    for (int effects : EFFECTS) {
      try (TestHome home = TestHome.create(dir.resolve("home-" + effects), SEALED)) {
        erase(home, effects);
      }
    }
  }

  private void erase(TestHome home, int effects) throws IOException {
    List<Digest> erased = new ArrayList<>();
    List<Digest> kept = new ArrayList<>();
    for (int n = 0; n < effects; n++) {
      erased.add(effect(home, "alice", n));
      if (n % 10 == 0) {
        kept.add(effect(home, "bob", n / 10));
      }
    }
    Path data = home.ledgerConfig().dir();
    long before = bytes(data);
    Envelope order =
        home.change(
            EventKind.CONTENTS_ERASED,
            new ErasureOrder(TestKeys.TENANT, Optional.of("alice"), Optional.empty()).toJson());
    long began = System.nanoTime();
    home.kernel().change(order);
    long took = System.nanoTime() - began;
    assertThat(ContentRetention.erasedAt(home.ledger(), order.id())).isPresent();
    assertThat(erased).noneMatch(home.ledger()::hasBlob);
    for (Digest content : kept) {
      assertThat(Digest.sha256(home.ledger().blob(content, 1 << 20))).isEqualTo(content);
    }
    assertThat(((Ledger) home.ledger()).contentKeys().retired()).isEmpty();
    assertThat(home.fsck().problems()).isEmpty();
    assertThat(
            Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {})
                .problems())
        .isEmpty();
    int statements = home.events(Deletion.RUN.tenant(), Deletion.RUN.run()).size();
    int runs = effects / OF_A_RUN;
    assertThat(statements)
        .as("one for each run, and some for observations, which effects of all runs share")
        .isLessThan(LONG ? 2 * runs + effects / 300 : runs * 3 / 2);
    long after = bytes(data);
    assertThat(after).isLessThan(before - (long) effects * OUTPUT / 2);
    System.out.printf(
        "%d contents erased of %d effects: %.2f s, %d statements; on disk %d bytes before, %d"
            + " after%n",
        effects, effects + kept.size(), took / 1e9, statements, before, after);
  }

  /** In turns, so that whatever else is at work on the machine is at work beside both. */
  @Test
  void an_effect_with_sealed_contents_beside_one_in_the_clear() {
    int turns = LONG ? 1000 : 20;
    try (TestHome clear = TestHome.create(dir.resolve("clear"), CLEAR);
        TestHome sealed = TestHome.create(dir.resolve("sealed"), SEALED)) {
      long[] inClear = new long[turns];
      long[] inSealed = new long[turns];
      for (int n = 0; n < turns; n++) {
        long began = System.nanoTime();
        Digest first = effect(clear, "alice", n);
        long between = System.nanoTime();
        Digest second = effect(sealed, "alice", n);
        inSealed[n] = System.nanoTime() - between;
        inClear[n] = between - began;
        assertThat(((Ledger) clear.ledger()).isInTheClear(first)).isTrue();
        assertThat(((Ledger) sealed.ledger()).isInTheClear(second)).isFalse();
      }
      Arrays.sort(inClear);
      Arrays.sort(inSealed);
      System.out.printf(
          "an effect with an output of %d bytes: median %.2f ms in the clear, %.2f ms sealed, ratio"
              + " %.2f%n",
          OUTPUT,
          inClear[turns / 2] / 1e6,
          inSealed[turns / 2] / 1e6,
          (double) inSealed[turns / 2] / inClear[turns / 2]);
    }
  }
}
