package dev.writ.verify.archive;

import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestSetup;
import dev.writ.ledger.archive.ArchiveFolder;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.Sample;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.time.Instant;
import java.util.Set;
import java.util.TreeMap;

/**
 * A process that archives the sample's run and ends without a word before the write of a number, in
 * the archive or in the ledger: {@code HOME ARCHIVE NUMBER}.
 */
public final class InterruptedArchiving implements Disk {
  static final int KILLED = 137;

  private final Runnable interruption;
  private final int at;
  private int count;

  InterruptedArchiving(int at, Runnable interruption) {
    this.at = at;
    this.interruption = interruption;
  }

  int count() {
    return count;
  }

  private void step() {
    if (count++ == at) {
      interruption.run();
    }
  }

  /** Archives the run, counting every write. */
  void archive(TestHome home, Path folder) {
    home.beforeWrite(this::step);
    move(home, new ArchiveFolder(folder, new DurableFiles(this)), Sample.RUN);
    home.beforeWrite(() -> {});
  }

  static void move(TestHome home, ArchivePlace place, RunId run) {
    RunArchive archive = new RunArchive(home.ledger(), place, Sample.packages(home));
    TreeMap<RunId, ArchivedBundle> runs = new TreeMap<>();
    Instant now = home.kernel().now();
    runs.put(run, archive.store(run, home.kernel().system(), now));
    home.kernel().contents().archive(runs, archive::earlier, now);
  }

  @Override
  public FileChannel open(
      Path file, Set<StandardOpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    step();
    return Disk.super.open(file, options, attributes);
  }

  @Override
  public void write(FileChannel channel, ByteBuffer content, Path file) throws IOException {
    step();
    Disk.super.write(channel, content, file);
  }

  @Override
  public void sync(FileChannel channel, Path file) throws IOException {
    step();
    Disk.super.sync(channel, file);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    step();
    Disk.super.rename(from, to);
  }

  /** A home of before, a day later. */
  static TestHome open(Path dir) {
    return TestSetup.in(dir).seed(2).start(TestHome.START.plusSeconds(86_400)).open();
  }

  public static void main(String[] args) {
    try (TestHome home = open(Path.of(args[0]))) {
      new InterruptedArchiving(Integer.parseInt(args[2]), () -> Runtime.getRuntime().halt(KILLED))
          .archive(home, Path.of(args[1]));
    }
  }
}
