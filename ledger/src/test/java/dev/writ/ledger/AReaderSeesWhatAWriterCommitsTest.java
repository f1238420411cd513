package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.form.Keys;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Scanner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AReaderSeesWhatAWriterCommitsTest {
  /** 60 kB each; logs are used a second time from about 64 MB on. */
  private static final int STEPS = Integer.getInteger("writ.reader.steps", 1_600);

  @TempDir Path home;

  /** Answers each line on its input with what it sees. */
  static final class Reader {
    public static void main(String[] args) {
      try (LedgerView view = Ledger.openReadOnly(Path.of(args[0]));
          Scanner in = new Scanner(System.in, StandardCharsets.UTF_8)) {
        while (in.hasNextLine()) {
          in.nextLine();
          view.refresh();
          long[] events = {0};
          view.eventsByIndex(0, view.treeSize(), (index, event) -> events[0]++);
          System.out.println(
              view.treeSize()
                  + " "
                  + view.root()
                  + " "
                  + events[0]
                  + " "
                  + view.get("t", "k").map(Keys::number).orElse(-1L));
          System.out.flush();
        }
      }
    }
  }

  @Test
  void in_another_process_while_the_writer_goes_on() throws Exception {
    try (Ledger ledger = Ledger.create(config(home));
        Child child =
            Child.start(Child.command(List.of(), Reader.class, config(home).dir().toString()));
        Writer ask =
            new OutputStreamWriter(child.process.getOutputStream(), StandardCharsets.UTF_8)) {
      ledger.append(opening("a")).await();
      for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 50; i++) {
          ledger.append(step(ledger, run("a"), round + " " + i));
        }
        ledger.append(new Batch().put("t", "k", Keys.number(round))).await();
        ask.write("look\n");
        ask.flush();
        assertThat(child.out.readLine())
            .isEqualTo(
                ledger.treeSize() + " " + ledger.root() + " " + ledger.treeSize() + " " + round);
      }
    }
  }

  @Test
  void across_many_write_ahead_logs_that_are_recycled() throws IOException {
    byte[] large = new byte[60_000];
    try (Ledger ledger = Ledger.create(config(home));
        LedgerView view = Ledger.openReadOnly(config(home).dir());
        LedgerView old = view(ledger)) {
      // So much that memtables are flushed and logs are used a second time.
      for (int i = 0; i < STEPS; i++) {
        Batch batch = step(ledger, run("a"), "step " + i);
        large[i % large.length]++;
        ledger.append(batch.put("t", "key " + i % 500, large));
        if (i % 200 == 199) {
          ledger.append(new Batch().put("t", "round", Keys.number(i))).await();
          view.refresh();
          assertThat(view.treeSize()).isEqualTo(ledger.treeSize());
          assertThat(view.root()).isEqualTo(ledger.root());
          assertThat(view.get("t", "round").map(Keys::number)).contains((long) i);
          assertThat(view.head(run("a"))).isEqualTo(ledger.head(run("a")));
        }
      }
      // A reader that was never refreshed still has every file that it began with.
      assertThat(old.treeSize()).isEqualTo(1);
      assertThat(old.head(run("a"))).contains(Fixture.first("a"));
    }
  }

  private LedgerView view(Ledger ledger) {
    ledger.append(opening("a")).await();
    return Ledger.openReadOnly(config(home).dir());
  }

  @Test
  void it_stays_where_it_was_until_it_is_refreshed() {
    try (Ledger ledger = Ledger.create(config(home));
        LedgerView view = Ledger.openReadOnly(config(home).dir())) {
      assertThat(view.root()).isEqualTo(Merkle.EMPTY_ROOT);
      ledger.append(opening("a")).await();
      assertThat(view.treeSize()).isZero();
      view.refresh();
      assertThat(view.treeSize()).isEqualTo(1);
      ledger.checkpoint();
      assertThat(view.latestCheckpoint()).isEmpty();
      view.refresh();
      assertThat(view.latestCheckpoint().map(Checkpoint::size)).contains(1L);
    }
  }

  @Test
  void it_needs_no_writer_and_leaves_nothing_behind() throws IOException {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
    }
    List<Path> before = tree();
    try (LedgerView view = Ledger.openReadOnly(config(home).dir())) {
      assertThat(view.head(run("a"))).contains(Fixture.first("a"));
    }
    assertThat(tree()).isEqualTo(before);
  }

  private List<Path> tree() throws IOException {
    try (var files = Files.walk(home)) {
      return files.sorted().toList();
    }
  }
}
