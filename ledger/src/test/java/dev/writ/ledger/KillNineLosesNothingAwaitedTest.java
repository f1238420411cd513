package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KillNineLosesNothingAwaitedTest {
  private static final int KILLS = Integer.getInteger("writ.kills", 2);
  private static final int RUNS = 8;

  @TempDir Path home;

  /** Writes for ever, and says what it has awaited. */
  static final class Writer {
    public static void main(String[] args) {
      try (Ledger ledger = Ledger.open(config(Path.of(args[0])))) {
        for (int i = 0; i < RUNS; i++) {
          RunId run = run("run-" + i);
          Thread.ofVirtual().start(() -> write(ledger, run));
        }
        Threads.join(Thread.ofPlatform().start(() -> checkpoints(ledger)));
      }
    }

    private static void write(Ledger ledger, RunId run) {
      if (ledger.head(run).isEmpty()) {
        ledger.append(opening(run.run())).await();
      }
      byte[] blob = new byte[Batch.BLOB_BYTES_MAX + 1];
      while (true) {
        long seq = ledger.pendingHead(run).orElseThrow().seq() + 1;
        Batch batch = step(ledger, run, run + " " + seq);
        if (seq % 8 == 0) {
          blob[0] = (byte) seq;
          batch.blob(written(ledger, blob));
        }
        ledger.append(batch.put("last", run.run(), Keys.number(seq))).await();
        say(run.run() + " " + seq);
      }
    }

    private static BlobRef written(Ledger ledger, byte[] content) {
      try (BlobSink sink = ledger.newBlob()) {
        sink.write(content);
        return sink.finish();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void checkpoints(Ledger ledger) {
      while (true) {
        ledger.checkpoint();
      }
    }

    private static void say(String line) {
      System.out.println(line);
      System.out.flush();
    }
  }

  @Test
  void what_was_awaited_is_there_and_the_chain_and_the_tree_are_whole() throws Exception {
    Ledger.create(config(home)).close();
    TreeMap<String, Long> awaited = new TreeMap<>();
    for (int kill = 0; kill < KILLS; kill++) {
      try (Child child =
          Child.start(Child.command(List.of("-Xmx128m"), Writer.class, home.toString()))) {
        for (int lines = 0; lines < 60; lines++) {
          remember(awaited, child.out.readLine());
        }
        child.process.toHandle().destroyForcibly(); // SIGKILL
        // What it managed to say before it died counts as well; a torn last line does not.
        List<String> rest = child.out.lines().toList();
        rest.stream().limit(Math.max(0, rest.size() - 1)).forEach(l -> remember(awaited, l));
      }
      FsckReport report =
          Fsck.check(
              Fsck.Options.of(config(home).dir())
                  .withLogKey(Fixture.LOG_KEY.verifyingKey())
                  .withAnchor(config(home).anchor()));
      assertThat(report.problems()).isEmpty();
      try (Ledger ledger = Ledger.open(config(home))) {
        awaited.forEach((run, seq) -> {
          assertThat(ledger.head(run(run)).orElseThrow().seq()).isGreaterThanOrEqualTo(seq);
          long row = Keys.number(ledger.get("last", run).orElseThrow());
          assertThat(row).as("a batch is whole").isEqualTo(ledger.head(run(run)).get().seq());
        });
        assertThat(ledger.treeSize()).isEqualTo(report.treeSize());
      }
    }
    assertThat(awaited).hasSize(RUNS);
  }

  private static void remember(TreeMap<String, Long> awaited, String line) {
    assertThat(line).as("what the child says").matches("run-\\d+ \\d+");
    String[] words = line.split(" ");
    awaited.merge(words[0], Long.valueOf(words[1]), Math::max);
  }
}
