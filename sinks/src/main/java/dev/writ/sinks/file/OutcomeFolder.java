package dev.writ.sinks.file;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.replay.export.FileFormat;
import dev.writ.replay.export.ScittStatements;
import dev.writ.sinks.error.SinkError;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * A folder with a file for each outcome, a signed statement of SCITT, or a proof or receipt that it
 * is in the log, and {@code last.json}, which says how far it is. That is written when all files
 * before it are on the disk: after a crash some are written again, under the same names.
 */
public final class OutcomeFolder implements RecordSink {
  private static final String LAST = "last.json";

  private final Path folder;
  private final String format;
  private final String suffix;
  private final Optional<SigningKey> key;
  private final String log;
  private Optional<RecordId> last = Optional.empty();

  /**
   * @param settings the folder is made if it does not exist; the one above it must exist
   * @param log origin of the log whose outcomes it gets
   */
  public OutcomeFolder(FileSettings settings, String log) {
    this.folder = settings.path();
    this.format = settings.format().orElseThrow();
    this.suffix = FileFormat.suffix(format);
    this.key = settings.key();
    this.log = log;
  }

  @Override
  public Optional<RecordId> open() {
    try {
      if (!Files.isDirectory(folder)) {
        requireAbove();
        DurableFiles.REAL.createDirectory(folder);
      }
      last = read(Files.readAllBytes(folder.resolve(LAST)));
    } catch (NoSuchFileException e) {
      last = Optional.empty();
    } catch (IOException e) {
      throw new WritException(
          SinkError.UNREACHABLE, folder + ": " + e.getClass().getSimpleName(), e);
    }
    return last;
  }

  /** A path with a slip in it is no place for a new tree. */
  private void requireAbove() {
    Path above = folder.toAbsolutePath().getParent();
    if (above == null || !Files.isDirectory(above)) {
      throw new WritException(SinkError.UNREACHABLE, above + " is no folder");
    }
  }

  private Optional<RecordId> read(byte[] file) {
    String found;
    RecordId id;
    try {
      Fields fields = Fields.of(LAST, Jcs.parse(file));
      found = fields.string("format") + " of " + fields.string("log");
      id = RecordId.parse(fields.string("id"));
      fields.end();
    } catch (WritException e) {
      throw new WritException(
          SinkError.OTHER_LOG, folder.resolve(LAST) + " has another form: " + e.found(), e);
    }
    String wanted = format + " of " + log;
    if (!found.equals(wanted)) {
      throw new WritException(SinkError.OTHER_LOG, folder + " has " + found + ", not " + wanted);
    }
    return Optional.of(id);
  }

  @Override
  public void deliver(List<SinkRecord> records) {
    List<SinkRecord> later =
        records.stream()
            .filter(record -> last.filter(id -> id.compareTo(record.id()) >= 0).isEmpty())
            .toList();
    if (later.isEmpty()) {
      return;
    }
    try {
      for (SinkRecord record : later) {
        put(record.evidence().hex() + "." + suffix, content(record));
      }
      DurableFiles.REAL.syncDirectory(folder);
      RecordId reached = later.getLast().id();
      DurableFiles.REAL.write(
          folder.resolve(LAST),
          Jcs.write(
              JsonValue.object()
                  .put("format", format)
                  .put("id", reached.toString())
                  .put("log", log)
                  .build()));
      last = Optional.of(reached);
    } catch (IOException e) {
      throw new WritException(SinkError.REFUSED, folder + ": " + e.getClass().getSimpleName(), e);
    }
  }

  private byte[] content(SinkRecord record) {
    Fields fields = Fields.of("record", record.fields());
    return switch (format) {
      case FileFormat.COSE_RECEIPT -> receipt(fields).orElseThrow();
      case FileFormat.SCITT ->
          ScittStatements.statement(
              log,
              fields.digest("request"),
              Jcs.write(fields.obj("envelope")),
              receipt(fields),
              key.orElseThrow());
      default -> fields.string("proof").getBytes(StandardCharsets.UTF_8);
    };
  }

  private static Optional<byte[]> receipt(Fields record) {
    return record.optional("receipt", name -> Base64.getDecoder().decode(record.string(name)));
  }

  /** Whole and on the disk before it has its name. */
  private void put(String name, byte[] content) throws IOException {
    Path fresh = folder.resolve("." + name + ".new");
    Files.deleteIfExists(fresh);
    try (FileChannel channel = DurableFiles.REAL.createFile(fresh)) {
      DurableFiles.REAL.write(channel, ByteBuffer.wrap(content), fresh);
      DurableFiles.REAL.sync(channel, fresh);
    }
    Files.move(
        fresh,
        folder.resolve(name),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public void close() {
    // Nothing is open between two deliveries.
  }
}
