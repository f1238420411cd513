package dev.writ.ledger.archive;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A folder that is there already, better on another disk: {@code bundles/ab/<hex>.writ}, each
 * synced before it gets its name, and the names synced; {@code new/} has what is being written.
 */
public final class ArchiveFolder implements ArchivePlace {
  static final String SCHEME = "file";

  /** Tells an archive from the empty folder where one is mounted. */
  private static final String MARKER = "writ-archive";

  private static final byte[] MARKER_CONTENT = "writ-archive 1\n".getBytes(StandardCharsets.UTF_8);
  private static final String BUNDLES = "bundles";
  private static final String NEW = "new";
  private static final String SUFFIX = ".writ";
  private static final Pattern NAME = Pattern.compile("([0-9a-f]{64})\\.writ");

  private final Path dir;
  private final DurableFiles files;

  public ArchiveFolder(Path dir) {
    this(dir, DurableFiles.REAL);
  }

  /**
   * @param files how it is written
   */
  public ArchiveFolder(Path dir, DurableFiles files) {
    this.dir = dir.toAbsolutePath().normalize();
    this.files = files;
  }

  @Override
  public String address() {
    return SCHEME + "://" + dir.toUri().getRawPath().replaceAll("(?<=.)/$", "");
  }

  @Override
  public void begin() {
    if (!Files.isDirectory(dir)) {
      throw new WritException(LedgerError.ARCHIVE_ABSENT, dir + " is no folder");
    }
    if (!isMarked()) {
      writing(MARKER, () -> files.write(dir.resolve(MARKER), MARKER_CONTENT));
    }
  }

  @Override
  public void require() {
    if (!isMarked()) {
      throw new WritException(
          LedgerError.ARCHIVE_ABSENT, dir.resolve(MARKER) + " is not there, or of another kind");
    }
  }

  private boolean isMarked() {
    try {
      Path marker = dir.resolve(MARKER);
      return Files.isRegularFile(marker)
          && Arrays.equals(Files.readAllBytes(marker), MARKER_CONTENT);
    } catch (IOException e) {
      throw new WritException(LedgerError.ARCHIVE_FAILED, dir + ": " + e.getMessage(), e);
    }
  }

  @Override
  public Path draft(String writer) throws IOException {
    Path draft = dir.resolve(NEW).resolve(writer + SUFFIX);
    files.createDirectories(draft.getParent());
    // A file left by an earlier failure is not written over: its pages may be lost for good.
    Files.deleteIfExists(draft);
    files.createFile(draft).close();
    return draft;
  }

  private Path file(Digest bundle) {
    return dir.resolve(BUNDLES)
        .resolve(bundle.hex().substring(0, 2))
        .resolve(bundle.hex() + SUFFIX);
  }

  @Override
  public void keep(Path draft, Digest bundle, Instant now) {
    Path file = file(bundle);
    writing(
        bundle.toString(),
        () -> {
          try {
            files.settleDirectory(file.getParent().getParent());
            files.settleDirectory(file.getParent());
            try (FileChannel channel = FileChannel.open(draft, StandardOpenOption.WRITE)) {
              files.sync(channel, draft);
            }
            if (!Files.exists(file)) {
              files.move(draft, file);
            }
            // A process that was killed may have given the name and not synced it.
            files.syncDirectory(file.getParent());
          } finally {
            Files.deleteIfExists(draft);
          }
        });
  }

  @Override
  public Optional<Fetched> fetch(Digest bundle) {
    Path file = file(bundle);
    return Files.isRegularFile(file) ? Optional.of(new InPlace(file)) : Optional.empty();
  }

  /** A file that stays where it is. */
  private record InPlace(Path file) implements Fetched {
    @Override
    public void close() {
      // it is the archive's
    }
  }

  @Override
  public void visit(Consumer<Digest> visitor) {
    if (Files.isDirectory(dir.resolve(BUNDLES))) {
      names().forEach(visitor);
    }
  }

  @Nondeterministic("the order of the files; they are sorted")
  private TreeSet<Digest> names() {
    TreeSet<Digest> names = new TreeSet<>();
    try (Stream<Path> all = Files.walk(dir.resolve(BUNDLES), 2)) {
      all.forEach(file -> {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (name.matches()) {
          names.add(Digest.parse("sha256:" + name.group(1)));
        }
      });
    } catch (IOException e) {
      throw new WritException(LedgerError.ARCHIVE_FAILED, dir + ": " + e.getMessage(), e);
    }
    return names;
  }

  @Override
  public ArchiveProtection protection(Instant now) {
    require();
    return new ArchiveProtection(
        false, address() + " is a folder: whoever may write to it can remove bundles");
  }

  private interface Writing {
    void write() throws IOException;
  }

  private void writing(String what, Writing work) {
    try {
      work.write();
    } catch (IOException e) {
      throw new WritException(
          LedgerError.ARCHIVE_FAILED, "writing " + what + " in " + dir + ": " + e.getMessage(), e);
    }
  }
}
