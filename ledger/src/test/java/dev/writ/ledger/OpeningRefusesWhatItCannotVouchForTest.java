package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpeningRefusesWhatItCannotVouchForTest {
  @TempDir Path home;

  /** Opens the ledger, says the code it was refused with or "open", and waits to be killed. */
  static final class Opener {
    public static void main(String[] args) throws Exception {
      try (Ledger ledger = Ledger.open(config(Path.of(args[0])))) {
        System.out.println("open " + ledger.treeSize());
        System.out.flush();
        System.in.read();
      } catch (WritException e) {
        System.out.println(e.code().code());
      }
    }
  }

  /** Fills the disk, makes room, and opens again. */
  static final class Filler {
    public static void main(String[] args) throws IOException {
      LedgerConfig config = config(Path.of(args[0]));
      AtomicLong awaited = new AtomicLong();
      try (Ledger ledger = Ledger.create(config)) {
        Path ballast = Files.write(config.dir().resolve("ballast"), new byte[8 << 20]);
        try {
          ledger.append(opening("a")).await();
          while (true) {
            Batch batch = step(ledger, run("a"), "step " + awaited.incrementAndGet());
            ledger.append(batch.put("t", "k" + awaited.get(), new byte[100_000])).await();
          }
        } catch (WritException e) {
          System.out.println(e.code().code());
        }
        try {
          ledger.append(opening("b"));
        } catch (WritException e) {
          System.out.println(e.code().code());
        }
        Files.delete(ballast);
      }
      try (Ledger ledger = Ledger.open(config)) {
        boolean there = ledger.treeSize() >= awaited.get();
        System.out.println(there ? "all there" : ledger.treeSize() + " of " + awaited);
        ledger.append(step(ledger, run("a"), "goes on")).await();
      }
      System.out.println(Fsck.check(Fsck.Options.of(config.dir())).problems());
    }
  }

  private void create() {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
    }
  }

  @Test
  void anErrorOfTheJvmLeavesTheLedgerToTheNext() {
    create();
    assertThatThrownBy(() ->
            Ledger.open(
                config(home),
                _ -> {
                  throw new UnsatisfiedLinkError("of a library");
                }))
        .isInstanceOf(UnsatisfiedLinkError.class);
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.treeSize()).isPositive();
    }
  }

  @Test
  void making_refuses_what_exists_and_leaves_it_alone() throws IOException {
    create();
    Refused.with(LedgerError.EXISTS, () -> Ledger.create(config(home)));
    Ledger.open(config(home)).close();
    Path other = home.resolve("other");
    Files.createDirectories(other.resolve("data"));
    Files.writeString(other.resolve("data/precious"), "x");
    Refused.with(LedgerError.EXISTS, () -> Ledger.create(config(other)));
    assertThat(other.resolve("data/precious")).hasContent("x");
    assertThat(other.resolve("anchor.json")).doesNotExist();
    Path third = home.resolve("third");
    Files.createDirectories(third);
    Files.writeString(third.resolve("anchor.json"), "x");
    Refused.with(LedgerError.EXISTS, () -> Ledger.create(config(third)));
    assertThat(third.resolve("data")).doesNotExist();
    Path fourth = home.resolve("fourth");
    Files.createDirectories(fourth);
    Files.writeString(fourth.resolve("data"), "a file");
    Refused.with(LedgerError.EXISTS, () -> Ledger.create(config(fourth)));
  }

  @Test
  void what_it_makes_is_its_owners_alone() throws IOException {
    create();
    for (String made : List.of("data", "data/db", "data/blobs")) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve(made))))
          .as(made)
          .isEqualTo("rwx------");
    }
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(home.resolve("anchor.json"))))
        .isEqualTo("rw-------");
  }

  @Test
  void a_missing_ledger() {
    Refused.with(LedgerError.MISSING, () -> Ledger.open(config(home)));
    Refused.with(LedgerError.MISSING, () -> Ledger.openReadOnly(home.resolve("data")));
    Refused.with(LedgerError.MISSING, () -> Ledger.nextIncarnation(config(home)));
    Refused.with(LedgerError.MISSING, () -> Fsck.check(Fsck.Options.of(home.resolve("data"))));
    assertThat(home).isEmptyDirectory();
  }

  @Test
  void a_later_format_and_a_file_that_says_nothing() throws IOException {
    create();
    Files.writeString(home.resolve("data/FORMAT"), "writ-ledger 4\n");
    Refused.with(LedgerError.FORMAT_FUTURE, () -> Ledger.open(config(home)));
    Refused.with(LedgerError.FORMAT_FUTURE, () -> Ledger.openReadOnly(home.resolve("data")));
    for (String text : List.of("", "writ-ledger 1", "hello\n", "x".repeat(1000))) {
      Files.writeString(home.resolve("data/FORMAT"), text);
      Refused.with(LedgerError.CORRUPT, () -> Ledger.open(config(home)));
    }
  }

  @Test
  void another_logs_ledger() {
    create();
    LedgerConfig config = config(home);
    Refused.with(
        LedgerError.ORIGIN,
        () ->
            Ledger.open(
                new LedgerConfig(
                    config.dir(), config.anchor(), "other", config.logKey(), config.clock())));
    Ledger.open(config).close();
  }

  @Test
  void a_second_writer_in_this_process_or_another() throws Exception {
    create();
    try (Ledger ledger = Ledger.open(config(home))) {
      Refused.with(LedgerError.LOCKED, () -> Ledger.open(config(home)));
      Refused.with(LedgerError.LOCKED, () -> Ledger.nextIncarnation(config(home)));
      try (Child child = Child.start(Child.command(List.of(), Opener.class, home.toString()))) {
        assertThat(child.linesToEnd()).containsExactly("LED-003");
      }
      ledger.append(step(ledger, run("a"), "still works")).await();
    }
    try (Child child = Child.start(Child.command(List.of(), Opener.class, home.toString()))) {
      assertThat(child.out.readLine()).isEqualTo("open 2");
      Refused.with(LedgerError.LOCKED, () -> Ledger.open(config(home)));
    }
    Ledger.open(config(home)).close(); // A killed writer's lock is gone with it.
  }

  @Test
  void no_permission_to_write() throws Exception {
    create();
    List<String> opener = Child.command(List.of(), Opener.class, home.toString());
    String readOnly = "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\"";
    try (Child child = Child.start(Namespace.command(readOnly, home.toString(), opener))) {
      assertThat(child.linesToEnd()).containsExactly("LED-004");
    }
  }

  @Test
  void a_full_disk_stops_it_and_loses_nothing_awaited() throws Exception {
    Files.createDirectory(home.resolve("data"));
    List<String> filler = Child.command(List.of(), Filler.class, home.toString());
    String small = "mount -t tmpfs -o size=48m tmpfs \"$1\"/data";
    try (Child child = Child.start(Namespace.command(small, home.toString(), filler))) {
      assertThat(child.linesToEnd()).containsExactly("LED-005", "LED-022", "all there", "[]");
    }
  }
}
