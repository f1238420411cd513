package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Unpacks a POSIX tar archive of regular files, directories and symbolic links. Entries that could
 * reach outside are refused, not repaired: absolute names, {@code ..}, links that lead out, hard
 * links, devices. A link with a later entry below it is refused, too.
 */
final class TarReader {
  private static final int BLOCK = TarWriter.BLOCK;
  private static final int MOST_PAX = 1 << 16;

  private final Workspace workspace;
  private final TreeLimits limits;
  private long entries;
  private long bytes;
  private TreeMap<String, byte[]> pax = new TreeMap<>();

  TarReader(Workspace workspace, TreeLimits limits) {
    this.workspace = workspace;
    this.limits = limits;
  }

  void read(InputStream in) throws IOException {
    while (true) {
      byte[] block = in.readNBytes(BLOCK);
      if (block.length == 0 || isZero(block)) {
        return;
      }
      if (block.length < BLOCK || number(block, 148, 8) != TarWriter.checksum(block)) {
        throw malformed("a header is cut off or its checksum differs");
      }
      entry(block, in);
    }
  }

  private void entry(byte[] block, InputStream in) throws IOException {
    long size = number(block, 124, 12);
    char type = (char) block[156];
    if (type == 'x') {
      pax = records(content(in, size, MOST_PAX));
      return;
    }
    if (type == 'L' || type == 'K') { // GNU's way to write a long name, which BusyBox has
      byte[] name = content(in, size, MOST_PAX);
      pax.put(type == 'L' ? "path" : "linkpath", text(name, 0, name.length));
      return;
    }
    if (++entries > limits.entries()) {
      throw new WritException(SandboxError.TREE_LIMIT, "more than " + limits.entries());
    }
    List<Path> parts = parts(name(block));
    byte[] target = pax.getOrDefault("linkpath", text(block, 157, 100));
    pax = new TreeMap<>();
    String permissions = permissions((int) number(block, 100, 8));
    switch (type) {
      case '0', '\0' -> {
        byte[] bytesOfFile = content(in, size, limits.bytes() - bytes);
        bytes += bytesOfFile.length;
        workspace.makeDirectories(parts);
        workspace.put(parts, bytesOfFile, permissions);
      }
      case '5' -> {
        workspace.makeDirectories(parts);
        workspace.makeDirectory(parts, permissions);
      }
      case '2' -> {
        workspace.makeDirectories(parts);
        workspace.makeLink(parts, target(target, parts.size() - 1));
      }
      default -> throw malformed("an entry of the type " + (int) type);
    }
  }

  private byte[] name(byte[] block) {
    if (pax.containsKey("path")) {
      return pax.get("path");
    }
    byte[] name = text(block, 0, 100);
    byte[] prefix = text(block, 345, 155);
    if (prefix.length == 0) {
      return name;
    }
    byte[] joined = Arrays.copyOf(prefix, prefix.length + 1 + name.length);
    joined[prefix.length] = '/';
    System.arraycopy(name, 0, joined, prefix.length + 1, name.length);
    return joined;
  }

  private List<Path> parts(byte[] name) {
    byte[] bare =
        name.length > 0 && name[name.length - 1] == '/'
            ? Arrays.copyOf(name, name.length - 1)
            : name;
    List<Path> parts = new ArrayList<>();
    for (byte[] part : split(bare)) {
      if (!RawNames.isPlain(part)) {
        throw malformed("a name is absolute, or has a part that is no plain name");
      }
      parts.add(RawNames.path(part));
    }
    if (parts.size() > limits.depth()) {
      throw new WritException(SandboxError.TREE_LIMIT, "nested " + parts.size() + " deep");
    }
    return parts;
  }

  /** A link may lead up but not out: its parts are counted. */
  private static Path target(byte[] target, int depth) {
    if (target.length == 0 || target[0] == '/') {
      throw malformed("a link is absolute or empty");
    }
    Path path = Path.of("");
    int at = depth;
    for (byte[] part : split(target)) {
      String text = new String(part, StandardCharsets.ISO_8859_1);
      if (text.equals("..")) {
        at--;
        path = path.resolve("..");
      } else if (RawNames.isPlain(part)) {
        at++;
        path = path.resolve(RawNames.path(part));
      } else if (!text.isEmpty() && !text.equals(".")) {
        throw malformed("a link has a part that is no name");
      }
      if (at < 0) {
        throw malformed("a link leads out");
      }
    }
    return path;
  }

  private static List<byte[]> split(byte[] name) {
    List<byte[]> parts = new ArrayList<>();
    int from = 0;
    for (int i = 0; i <= name.length; i++) {
      if (i == name.length || name[i] == '/') {
        parts.add(Arrays.copyOfRange(name, from, i));
        from = i + 1;
      }
    }
    return parts;
  }

  private static TreeMap<String, byte[]> records(byte[] text) {
    TreeMap<String, byte[]> records = new TreeMap<>();
    int at = 0;
    while (at < text.length) {
      int space = indexOf(text, ' ', at);
      int length = digits(text, at, space, 10);
      int equals = indexOf(text, '=', space);
      int end = at + length;
      if (end > text.length || equals >= end || text[end - 1] != '\n') {
        throw malformed("an extended header");
      }
      String key = new String(text, space + 1, equals - space - 1, StandardCharsets.UTF_8);
      if (!key.equals("path") && !key.equals("linkpath") && !key.endsWith("time")) {
        throw malformed("an extended header with an entry that is not path or linkpath");
      }
      records.put(key, Arrays.copyOfRange(text, equals + 1, end - 1));
      at = end;
    }
    return records;
  }

  private static int indexOf(byte[] text, char wanted, int from) {
    for (int i = from; i < text.length; i++) {
      if (text[i] == wanted) {
        return i;
      }
    }
    throw malformed("an extended header");
  }

  private static int digits(byte[] text, int from, int to, int radix) {
    String digits = new String(text, from, to - from, StandardCharsets.ISO_8859_1);
    if (!digits.matches("[0-9]{1,9}")) {
      throw malformed("an extended header");
    }
    return Math.max(1, Integer.parseInt(digits, radix));
  }

  private byte[] content(InputStream in, long size, long most) throws IOException {
    if (size > most || size > Integer.MAX_VALUE - 8) {
      throw new WritException(SandboxError.TREE_LIMIT, "a file of " + size + " bytes");
    }
    byte[] content = in.readNBytes((int) size);
    int padding = (int) ((BLOCK - size % BLOCK) % BLOCK);
    if (content.length < size || in.readNBytes(padding).length < padding) {
      throw malformed("it ends inside a file");
    }
    return content;
  }

  /** setuid, setgid and sticky bits are dropped. */
  private static String permissions(int mode) {
    StringBuilder text = new StringBuilder();
    for (int bit = 8; bit >= 0; bit--) {
      text.append((mode >> bit & 1) == 1 ? "rwx".charAt((8 - bit) % 3) : '-');
    }
    return text.toString();
  }

  private static long number(byte[] block, int at, int length) {
    String digits = new String(block, at, length, StandardCharsets.ISO_8859_1);
    String bare = digits.replace('\0', ' ').strip();
    if (!bare.matches("[0-7]{1,12}")) {
      throw malformed("a number is not octal");
    }
    return Long.parseLong(bare, 8);
  }

  private static byte[] text(byte[] block, int at, int length) {
    int end = at;
    while (end < at + length && block[end] != 0) {
      end++;
    }
    return Arrays.copyOfRange(block, at, end);
  }

  private static boolean isZero(byte[] block) {
    for (byte b : block) {
      if (b != 0) {
        return false;
      }
    }
    return true;
  }

  private static WritException malformed(String found) {
    return new WritException(SandboxError.ARCHIVE, found);
  }
}
