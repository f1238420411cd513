package dev.writ.sandbox.workspace;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Writes a tree as a POSIX tar archive (IEEE 1003.1, pax): regular files, directories and links, in
 * the order of their names, without owners and times. FIFOs, sockets and devices are left out.
 */
public final class TarWriter {
  static final int BLOCK = 512;
  private static final int MOST_NAME = 100;
  private static final byte[] GNU_NAME = "././@LongLink".getBytes(StandardCharsets.US_ASCII);

  private final OutputStream out;
  private final Optional<TarFilter> filter;

  private final boolean gnu;

  /**
   * @param gnu whether long names are written as GNU tar does, for readers that know no others
   */
  private TarWriter(OutputStream out, Optional<TarFilter> filter, boolean gnu) {
    this.out = out;
    this.filter = filter;
    this.gnu = gnu;
  }

  static void write(List<Entry> entries, OutputStream out, Optional<TarFilter> filter)
      throws IOException {
    write(entries, new TarWriter(out, filter, false));
  }

  /**
   * The same for BusyBox, which does not read the names of POSIX that are longer than 100 bytes.
   *
   * @param below what the names of all entries begin with
   */
  static void writeGnu(List<Entry> entries, String below, OutputStream out) throws IOException {
    byte[] prefix = below.getBytes(StandardCharsets.UTF_8);
    List<Entry> placed =
        entries.stream()
            .map(e -> new Entry(e.kind(), e.mode(), e.size(), joined(prefix, e.name()), e.path()))
            .toList();
    write(placed, new TarWriter(out, Optional.empty(), true));
  }

  private static byte[] joined(byte[] prefix, byte[] name) {
    byte[] all = Arrays.copyOf(prefix, prefix.length + name.length);
    System.arraycopy(name, 0, all, prefix.length, name.length);
    return all;
  }

  /**
   * Regular files for BusyBox, each with the mode 0644, and no end: the beginning of an archive
   * that goes on.
   *
   * @param files by their names, the parts separated by {@code /}
   */
  public static byte[] begun(Map<String, byte[]> files) {
    byte[] whole = files(files, true);
    return Arrays.copyOf(whole, whole.length - 2 * BLOCK);
  }

  private static void write(List<Entry> entries, TarWriter writer) throws IOException {
    for (Entry entry : entries) {
      writer.entry(entry);
    }
    writer.out.write(new byte[2 * BLOCK]);
    writer.out.flush();
  }

  /**
   * Writes regular files, each with the mode 0644; equal files give equal bytes.
   *
   * @param files by their names, the parts separated by {@code /}
   */
  public static byte[] files(Map<String, byte[]> files) {
    return files(files, false);
  }

  private static byte[] files(Map<String, byte[]> files, boolean gnu) {
    TreeMap<byte[], byte[]> sorted = new TreeMap<>(Arrays::compareUnsigned);
    files.forEach((name, bytes) -> sorted.put(name.getBytes(StandardCharsets.UTF_8), bytes));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    TarWriter writer = new TarWriter(out, Optional.empty(), gnu);
    try {
      for (Map.Entry<byte[], byte[]> file : sorted.entrySet()) {
        writer.header(file.getKey(), 0644, '0', file.getValue().length, new byte[0]);
        out.writeBytes(file.getValue());
        writer.pad(file.getValue().length);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    out.writeBytes(new byte[2 * BLOCK]);
    return out.toByteArray();
  }

  private void entry(Entry entry) throws IOException {
    byte[] nothing = new byte[0];
    filter.ifPresent(f -> f.name(entry.name()));
    switch (entry.kind()) {
      case 'f' -> {
        if (filter.isPresent()) {
          filtered(entry, filter.get());
        } else {
          header(entry.name(), entry.mode() & 0777, '0', entry.size(), nothing);
          content(entry);
        }
      }
      case 'd' -> header(entry.name(), entry.mode() & 0777, '5', 0, nothing);
      case 'l' -> {
        byte[] target = TreeDigest.target(entry.path());
        filter.ifPresent(f -> f.name(target));
        header(entry.name(), entry.mode() & 0777, '2', 0, target);
      }
      default -> {
        return;
      }
    }
  }

  private void header(byte[] name, int mode, char type, long size, byte[] target)
      throws IOException {
    if (gnu) {
      longName('K', target);
      longName('L', name);
    } else {
      extended(name, target);
    }
    block(shortened(name), mode, type, size, shortened(target));
  }

  private void longName(char type, byte[] name) throws IOException {
    if (name.length > MOST_NAME) {
      block(GNU_NAME, 0644, type, name.length + 1, new byte[0]);
      out.write(name);
      out.write(0);
      pad(name.length + 1);
    }
  }

  private void extended(byte[] name, byte[] target) throws IOException {
    ByteArrayOutputStream pax = new ByteArrayOutputStream();
    if (name.length > MOST_NAME) {
      record(pax, "path", name);
    }
    if (target.length > MOST_NAME) {
      record(pax, "linkpath", target);
    }
    if (pax.size() > 0) {
      block(new byte[] {'p', 'a', 'x'}, 0644, 'x', pax.size(), new byte[0]);
      out.write(pax.toByteArray());
      pad(pax.size());
    }
  }

  /** {@code LENGTH KEY=VALUE\n}, where LENGTH counts itself. */
  private static void record(ByteArrayOutputStream pax, String key, byte[] value) {
    int rest = key.length() + value.length + 3; // space, =, newline
    int length = rest + Integer.toString(rest).length();
    if (Integer.toString(length).length() > Integer.toString(rest).length()) {
      length++;
    }
    pax.writeBytes((length + " " + key + "=").getBytes(StandardCharsets.US_ASCII));
    pax.writeBytes(value);
    pax.write('\n');
  }

  private static byte[] shortened(byte[] name) {
    return name.length > MOST_NAME ? Arrays.copyOf(name, MOST_NAME) : name;
  }

  private void block(byte[] name, int mode, char type, long size, byte[] target)
      throws IOException {
    byte[] block = new byte[BLOCK];
    System.arraycopy(name, 0, block, 0, name.length);
    octal(block, 100, 7, mode);
    octal(block, 108, 7, 0);
    octal(block, 116, 7, 0);
    octal(block, 124, 11, size);
    octal(block, 136, 11, 0);
    block[156] = (byte) type;
    System.arraycopy(target, 0, block, 157, target.length);
    System.arraycopy("ustar\00000".getBytes(StandardCharsets.US_ASCII), 0, block, 257, 8);
    octal(block, 148, 6, checksum(block));
    block[155] = ' ';
    out.write(block);
  }

  /** The sum of all bytes, those of the checksum itself counted as spaces. */
  static int checksum(byte[] block) {
    int sum = 0;
    for (int i = 0; i < BLOCK; i++) {
      sum += i >= 148 && i < 156 ? ' ' : block[i] & 0xff;
    }
    return sum;
  }

  private static void octal(byte[] block, int at, int digits, long value) throws IOException {
    String text = Long.toOctalString(value);
    if (text.length() > digits) {
      throw new IOException("a number of " + value + " does not fit into a tar header");
    }
    byte[] padded = ("0".repeat(digits - text.length()) + text).getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(padded, 0, block, at, digits);
  }

  private void filtered(Entry entry, TarFilter through) throws IOException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(entry.path(), LinkOption.NOFOLLOW_LINKS)) {
      bytes = through.content(in.readAllBytes());
    }
    header(entry.name(), entry.mode() & 0777, '0', bytes.length, new byte[0]);
    out.write(bytes);
    pad(bytes.length);
  }

  private void content(Entry entry) throws IOException {
    try (InputStream in = Files.newInputStream(entry.path(), LinkOption.NOFOLLOW_LINKS)) {
      long copied = in.transferTo(out);
      if (copied != entry.size()) {
        throw new IOException("a file grew from " + entry.size() + " to " + copied);
      }
    }
    pad(entry.size());
  }

  private void pad(long size) throws IOException {
    out.write(new byte[(int) ((BLOCK - size % BLOCK) % BLOCK)]);
  }
}
