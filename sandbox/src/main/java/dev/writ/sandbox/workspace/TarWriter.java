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

  private final OutputStream out;
  private final Optional<TarFilter> filter;

  private TarWriter(OutputStream out, Optional<TarFilter> filter) {
    this.out = out;
    this.filter = filter;
  }

  static void write(List<Entry> entries, OutputStream out, Optional<TarFilter> filter)
      throws IOException {
    TarWriter writer = new TarWriter(out, filter);
    for (Entry entry : entries) {
      writer.entry(entry);
    }
    out.write(new byte[2 * BLOCK]);
    out.flush();
  }

  /**
   * Writes regular files, each with the mode 0644; equal files give equal bytes.
   *
   * @param files by their names, the parts separated by {@code /}
   */
  public static byte[] files(Map<String, byte[]> files) {
    TreeMap<byte[], byte[]> sorted = new TreeMap<>(Arrays::compareUnsigned);
    files.forEach((name, bytes) -> sorted.put(name.getBytes(StandardCharsets.UTF_8), bytes));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    TarWriter writer = new TarWriter(out, Optional.empty());
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
    block(shortened(name), mode, type, size, shortened(target));
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
