package dev.writ.sinks.file;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.replay.export.CloudEventsFormat;
import dev.writ.replay.export.InTotoStatements;
import dev.writ.sinks.error.SinkError;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A file of canonical JSON lines, synced after each delivery. Its last whole line says how far it
 * is; an incomplete one behind that, from a crash, is removed.
 */
public final class FileSink implements RecordSink {
  private static final int BLOCK = 64 << 10;

  private final Path path;
  private final FileLines lines;
  private final Optional<SigningKey> key;
  private final String log;
  private FileChannel file;
  private Object inode;
  private Optional<RecordId> last = Optional.empty();

  /**
   * @param settings the file is created if it does not exist; its folder must exist
   * @param log origin of the log whose records it gets
   */
  public FileSink(FileSettings settings, String log) {
    this.path = settings.path();
    this.key = settings.key();
    this.lines =
        settings
            .format()
            .map(name -> FileLines.valueOf(name.replace('-', '_').toUpperCase(Locale.ROOT)))
            .orElse(FileLines.RECORDS);
    this.log = lines == FileLines.CLOUDEVENTS ? CloudEventsFormat.source(log) : log;
  }

  @Override
  public Optional<RecordId> open() {
    try {
      file =
          FileChannel.open(
              path,
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      inode = inode();
      long end = behindLineEnd(file.size());
      if (end == 0) {
        requireBegun();
      }
      last = end == 0 ? Optional.empty() : Optional.of(id(behindLineEnd(end - 1), end));
      file.truncate(end); // not before it is known to be ours
      file.position(end);
      return last;
    } catch (IOException e) {
      throw new WritException(SinkError.UNREACHABLE, path + ": " + e.getClass().getSimpleName(), e);
    }
  }

  private Object inode() throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /**
   * What a program that rotates logs moved away or cut off is opened anew: else records would go
   * where nobody looks for them, or behind a hole.
   */
  private void requireThere() throws IOException {
    if (!Files.exists(path) || !inode().equals(inode) || file.size() != file.position()) {
      throw new WritException(
          SinkError.UNREACHABLE, path + " was moved, replaced or cut off by another program");
    }
  }

  /** Without a whole line all that a file may have is the beginning of our first one. */
  private void requireBegun() throws IOException {
    String begin = lines.begin();
    byte[] found = read(0, Math.min(file.size(), begin.length()));
    if (!begin.startsWith(new String(found, StandardCharsets.ISO_8859_1))) {
      throw new WritException(SinkError.OTHER_LOG, path + " has no line of this form");
    }
  }

  /** The position behind the last line end before {@code to}; 0 if there is none. */
  private long behindLineEnd(long to) throws IOException {
    for (long end = to; end > 0; ) {
      long begin = Math.max(0, end - BLOCK);
      byte[] block = read(begin, end);
      for (int i = block.length - 1; i >= 0; i--) {
        if (block[i] == '\n') {
          return begin + i + 1;
        }
      }
      end = begin;
    }
    return 0;
  }

  private byte[] read(long from, long to) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(Math.toIntExact(to - from));
    while (buffer.hasRemaining()) {
      if (file.read(buffer, from + buffer.position()) < 0) {
        throw new IOException("the file became shorter");
      }
    }
    return buffer.array();
  }

  private RecordId id(long from, long to) throws IOException {
    String found;
    RecordId id;
    try {
      Fields fields = Fields.of("line", lines.read(read(from, to - 1)));
      found = lines.log(fields);
      id = RecordId.parse(lines.id(fields));
    } catch (WritException e) {
      throw new WritException(
          SinkError.OTHER_LOG, path + " ends with a line of another form: " + e.found(), e);
    }
    if (!found.equals(log)) {
      throw new WritException(SinkError.OTHER_LOG, path + " is of " + found + ", not of " + log);
    }
    return id;
  }

  private byte[] bytes(JsonValue.Obj line) {
    return key.map(signs -> InTotoStatements.signed(line, signs)).orElseGet(() -> Jcs.write(line));
  }

  @Override
  public void deliver(List<SinkRecord> records) {
    ByteArrayOutputStream added = new ByteArrayOutputStream();
    for (SinkRecord record : records) {
      if (last.filter(id -> id.compareTo(record.id()) >= 0).isEmpty()) {
        added.writeBytes(bytes(lines.line(record)));
        added.write('\n');
      }
    }
    try {
      requireThere();
      ByteBuffer bytes = ByteBuffer.wrap(added.toByteArray());
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
      file.force(true);
    } catch (IOException e) {
      throw new WritException(SinkError.REFUSED, path + ": " + e.getClass().getSimpleName(), e);
    }
    last =
        last.filter(id -> id.compareTo(records.getLast().id()) > 0)
            .or(() -> Optional.of(records.getLast().id()));
  }

  @Override
  public void close() {
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        // What was confirmed has been synced.
      }
    }
  }
}
