package dev.writ.verify.bundle;

import static dev.writ.verify.bundle.ArchiveForm.END_BYTES;
import static dev.writ.verify.bundle.ArchiveForm.LOCAL_BYTES;

import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToIntFunction;
import java.util.zip.CRC32;

/**
 * A ZIP file in one form ({@link ArchiveForm}): stored, not compressed; entries sorted by name; one
 * fixed time; no comments, folders or links, and no extra fields but where an offset needs 64 bits.
 * Every header must equal the one that follows from the entry's name, content and place. So nothing
 * can hide between entries, every byte has a meaning, and nothing grows when it is unpacked.
 *
 * <p>Content is read on demand; the index takes eight bytes for each entry. Thread safe.
 */
final class Archive implements AutoCloseable {
  private final PositionedSource source;

  /** The offset of each entry, and last the offset of the directory. */
  private final CompactOffsets offsets = new CompactOffsets();

  /** The key of each name with a digest; of another the length of the name. */
  private final PagedInts keys = new PagedInts();

  private Archive(PositionedSource source) {
    this.source = source;
  }

  /**
   * Reads the headers; the checksums are for {@link #verify}.
   *
   * @param key maps a name to its {@link BundleEntryNames#key}; may refuse a name
   * @throws WritException {@code RPL-010} to {@code RPL-016}
   */
  static Archive open(PositionedSource source, ToIntFunction<String> key) {
    Archive archive = new Archive(source);
    archive.headers(key);
    return archive;
  }

  private void headers(ToIntFunction<String> key) {
    long size = source.size();
    ArchiveForm.requireBounds(size, 0);
    if (size < END_BYTES) {
      throw new WritException(BundleError.ARCHIVE_TRUNCATED, size + " bytes");
    }
    ForwardReader locals = new ForwardReader(source);
    if (locals.at(0, Integer.BYTES).getInt(0) != ArchiveForm.LOCAL) {
      throw new WritException(BundleError.ARCHIVE_FORM, "it does not begin as a ZIP file does");
    }
    ForwardReader directory = new ForwardReader(source);
    int ends = (int) Math.min(size, ArchiveForm.ENDS_BYTES);
    ByteBuffer end = directory.at(size - ends, ends);
    if (end.getInt(ends - END_BYTES) != ArchiveForm.END) {
      throw new WritException(
          BundleError.ARCHIVE_TRUNCATED, "the last " + END_BYTES + " bytes are not its end record");
    }
    long start = ArchiveForm.start(end);
    if (start < 0 || start > size) {
      throw form(size - ends, "the directory begins at " + start + ", the file has " + size);
    }
    long at = 0;
    long central = start;
    String before = "";
    while (at < start) {
      String name = name(locals, at, size);
      requireOrder(name, before);
      byte[] header = header(locals, at, size, name);
      byte[] nameBytes = name.getBytes(StandardCharsets.US_ASCII);
      long contentSize = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(22);
      contentSize &= 0xffff_ffffL;
      int crc = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(14);
      requireBytes(locals, at, ArchiveForm.local(nameBytes, crc, contentSize));
      byte[] listed = ArchiveForm.central(nameBytes, crc, contentSize, at);
      requireBytes(directory, central, listed);
      add(at, key.applyAsInt(name), nameBytes.length);
      central += listed.length;
      at += header.length + nameBytes.length + contentSize;
      before = name;
    }
    if (at != start) {
      throw form(at, "the directory begins at " + start);
    }
    requireBytes(directory, central, ArchiveForm.end(entries(), start, central));
    if (central + ArchiveForm.endBytes(entries(), start, central) != size) {
      throw form(central, "the file has " + size + " bytes");
    }
    offsets.add(start);
  }

  private void add(long at, int key, int nameLength) {
    ArchiveForm.requireBounds(0, entries() + 1L);
    offsets.add(at);
    keys.add(BundleEntryNames.hasDigest(key) ? key : nameLength);
  }

  /** Reads the name first, so that no other damage hides a name that leads out of a folder. */
  private static String name(ForwardReader locals, long at, long end) {
    if (end - at < LOCAL_BYTES) {
      throw new WritException(BundleError.ARCHIVE_TRUNCATED, "in the header at byte " + at);
    }
    int length = locals.at(at, LOCAL_BYTES).getShort(26) & 0xffff;
    if (end - at - LOCAL_BYTES < length) {
      throw new WritException(BundleError.ARCHIVE_TRUNCATED, "in the name at byte " + at);
    }
    if (length > ArchiveForm.NAME_MAX) {
      throw new WritException(BundleError.ENTRY_NAME, length + " bytes at byte " + at);
    }
    byte[] name = new byte[length];
    locals.at(at + LOCAL_BYTES, length).get(name);
    return ArchiveForm.name(new String(name, StandardCharsets.ISO_8859_1));
  }

  private static void requireOrder(String name, String before) {
    if (name.equals(before)) {
      throw new WritException(BundleError.ENTRY_TWICE, name);
    }
    if (name.compareTo(before) < 0) {
      throw new WritException(BundleError.ARCHIVE_FORM, name + " stands behind " + before);
    }
  }

  private static byte[] header(ForwardReader locals, long at, long end, String name) {
    byte[] header = new byte[LOCAL_BYTES];
    ByteBuffer in = locals.at(at, LOCAL_BYTES);
    in.get(0, header);
    int method = in.getShort(8) & 0xffff;
    int flags = in.getShort(6) & 0xffff;
    int extra = in.getShort(28) & 0xffff;
    if (method != 0 || flags != 0 || extra != 0) {
      throw form(
          at,
          name
              + " has method "
              + method
              + ", flags "
              + flags
              + ", extra bytes "
              + extra
              + "; all are 0 here (stored)");
    }
    long size = in.getInt(22) & 0xffff_ffffL;
    long left = end - at - LOCAL_BYTES - name.length();
    if (size > left) {
      throw new WritException(
          BundleError.ARCHIVE_TRUNCATED,
          name + " at byte " + at + " has " + size + " bytes, left are " + left);
    }
    ArchiveForm.requireContentBounds(name, size);
    return header;
  }

  /** Requires that the file has exactly these bytes. */
  private void requireBytes(ForwardReader window, long at, byte[] wanted) {
    if (at + wanted.length > source.size()) {
      throw form(at, "the file has " + source.size() + " bytes");
    }
    byte[] found = new byte[wanted.length];
    window.at(at, wanted.length).get(found);
    int differs = Arrays.mismatch(found, wanted);
    if (differs >= 0) {
      throw form(
          at + differs,
          "recorded " + (found[differs] & 0xff) + ", recomputed " + (wanted[differs] & 0xff));
    }
  }

  private static WritException form(long at, String what) {
    return new WritException(BundleError.ARCHIVE_FORM, "at byte " + at + ": " + what);
  }

  int entries() {
    return keys.size();
  }

  /** Where the entry's header is. */
  private long offset(int entry) {
    return offsets.get(entry);
  }

  private int nameLength(int entry) {
    int key = keys.get(entry);
    return BundleEntryNames.hasDigest(key) ? BundleEntryNames.nameLength(key) : key;
  }

  /** By its key alone. */
  boolean isBlob(int entry) {
    return BundleEntryNames.isBlob(keys.get(entry));
  }

  String name(int entry) {
    return new String(nameBytes(entry), StandardCharsets.US_ASCII);
  }

  private byte[] nameBytes(int entry) {
    byte[] name = new byte[nameLength(entry)];
    source.read(offset(entry) + LOCAL_BYTES, name, 0, name.length);
    return name;
  }

  long size(int entry) {
    return offset(entry + 1) - contentAt(entry);
  }

  private long contentAt(int entry) {
    return offset(entry) + LOCAL_BYTES + nameLength(entry);
  }

  /** The entry of that name. */
  OptionalInt find(String name, int key) {
    int entry = search(name, key, false);
    return entry < 0 ? OptionalInt.empty() : OptionalInt.of(entry);
  }

  /**
   * @param byKey whether the first entry with that key will do, whose name then need not be read
   */
  private int search(String name, int key, boolean byKey) {
    int low = 0;
    int high = entries() - 1;
    while (low <= high) {
      int middle = low + high >>> 1;
      int order = compare(middle, name, key, byKey);
      if (order == 0) {
        return middle;
      } else if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1;
  }

  /** The first entry with this name or a later one; {@link #entries} if there is none. */
  int ceiling(String name) {
    int low = 0;
    int high = entries();
    while (low < high) {
      int middle = low + high >>> 1;
      if (name(middle).compareTo(name) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private int compare(int entry, String name, int key, boolean byKey) {
    int own = keys.get(entry);
    boolean both = BundleEntryNames.hasDigest(own) && BundleEntryNames.hasDigest(key);
    int order = both ? Integer.compareUnsigned(own, key) : 0;
    return order != 0 || byKey && own == key ? order : name(entry).compareTo(name);
  }

  /** An entry with its content. */
  record Found(int entry, byte[] content) {}

  /**
   * The entry of that name with its content, read at once.
   *
   * @throws WritException {@code RPL-012} where it is larger than {@code max}
   */
  Optional<Found> read(String name, int key, int max) {
    int entry = key == 0 ? -1 : search(name, key, true);
    if (entry >= 0 && size(entry) <= Math.min(max, ForwardReader.BYTES)) {
      int nameLength = nameLength(entry);
      byte[] both = new byte[nameLength + (int) size(entry)];
      source.read(offset(entry) + LOCAL_BYTES, both, 0, both.length);
      if (name.equals(new String(both, 0, nameLength, StandardCharsets.US_ASCII))) {
        return Optional.of(new Found(entry, Arrays.copyOfRange(both, nameLength, both.length)));
      }
    }
    OptionalInt found = find(name, key);
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(new Found(found.getAsInt(), read(found.getAsInt(), max)));
  }

  /**
   * The content of an entry.
   *
   * @throws WritException {@code RPL-012} where it is larger than {@code max}
   */
  byte[] read(int entry, int max) {
    long size = size(entry);
    if (size > max) {
      throw new WritException(
          BundleError.ARCHIVE_BOUNDS, name(entry) + " has " + size + " bytes, at most " + max);
    }
    byte[] content = new byte[(int) size];
    source.read(contentAt(entry), content, 0, content.length);
    return content;
  }

  /** Reads content forward, from a position in it. */
  InputStream stream(int entry, long from) {
    long end = offset(entry + 1);
    return new InputStream() {
      private long at = contentAt(entry) + from;

      @Override
      public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] into, int start, int length) {
        int count = (int) Math.min(length, end - at);
        if (count <= 0) {
          return length == 0 ? 0 : -1;
        }
        source.read(at, into, start, count);
        at += count;
        return count;
      }
    };
  }

  /** Gets an entry's content, piece by piece. */
  interface Hash {
    void update(byte[] bytes, int from, int length);

    /** At the end of the content of the entry of that name. */
    void end(String name);
  }

  /** For reading entries in their order. */
  ForwardReader window() {
    return new ForwardReader(source);
  }

  /**
   * Reads an entry through and compares its checksum.
   *
   * @param hash gets the content as well
   * @throws WritException {@code RPL-015}: a code of its own, since it distinguishes a damaged disk
   *     from a forgery
   */
  void verify(int entry, Optional<Hash> hash, ForwardReader window) {
    CRC32 crc = new CRC32();
    long left = offset(entry + 1) - offset(entry);
    int skipped = LOCAL_BYTES + nameLength(entry);
    int stated = 0;
    String name = "";
    for (long at = offset(entry); left > 0; skipped = 0) {
      int count = (int) Math.min(left, ForwardReader.BYTES);
      ByteBuffer bytes = window.at(at, count);
      if (skipped > 0) {
        stated = bytes.getInt(14);
        name = text(bytes, LOCAL_BYTES, nameLength(entry));
      }
      int from = bytes.arrayOffset() + skipped;
      crc.update(bytes.array(), from, count - skipped);
      if (hash.isPresent()) {
        hash.get().update(bytes.array(), from, count - skipped);
      }
      at += count;
      left -= count;
    }
    if ((int) crc.getValue() != stated) {
      throw new WritException(
          BundleError.ENTRY_CHECKSUM,
          name
              + " has "
              + Long.toHexString(crc.getValue())
              + ", its header says "
              + Integer.toHexString(stated));
    }
    if (hash.isPresent()) {
      hash.get().end(name);
    }
  }

  private static String text(ByteBuffer bytes, int at, int length) {
    return new String(bytes.array(), bytes.arrayOffset() + at, length, StandardCharsets.US_ASCII);
  }

  @Override
  public void close() {
    source.close();
  }
}
