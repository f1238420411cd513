package dev.writ.verify.bundle;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.testing.Node;
import dev.writ.verify.testing.Refusal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Where a header or the directory begins just before, at and behind the last offset of 32 bits, an
 * archive has the 64-bit fields that it needs and no others, and both verifiers accept exactly that
 * form. A blob of zeros, which takes no room on the disk, moves a small bundle there. Its checksum
 * and digest are for the long form, {@code -Dwrit.exhaustive=true}.
 */
class OffsetsBeyond4GiBAreReadByBothVerifiersTest {
  private static final long ALL_ONES = 0xffff_ffffL;
  private static final boolean LONG = Boolean.getBoolean("writ.exhaustive");

  /** Sorted before all others. */
  private static final String ZEROS = BundleEntryNames.BLOBS + "0".repeat(64);

  /**
   * More than either verifier reads at once; 4 GiB and more with {@code -Dwrit.exhaustive=true}.
   */
  private static final long READ_BYTES = 70 << 20;

  private static final int FIRST = ArchiveForm.LOCAL_BYTES + ZEROS.length();

  @TempDir static Path dir;

  private static byte[] small;
  private static TreeMap<String, byte[]> entries;

  @BeforeAll
  static void writeOnce() throws IOException {
    small = Sample.small(dir.resolve("home"));
    entries = Packed.read(small);
    Files.write(dir.resolve("small.writ"), small);
  }

  /** The small bundle's directory begins at that offset of the file. */
  private static Path withDirectoryAt(long offset) {
    return write(offset - FIRST - start(small));
  }

  /** The small bundle's first header is at that offset of the file. */
  private static Path withHeaderAt(long offset) {
    return write(offset - FIRST);
  }

  private static Path write(long zeros) {
    Path file = dir.resolve(zeros + ".writ");
    if (!Files.exists(file)) {
      Sparse.write(file, entries, new TreeMap<>(Map.of(ZEROS, zeros)));
    }
    return file;
  }

  private static long start(byte[] archive) {
    return ByteBuffer.wrap(archive).order(ByteOrder.LITTLE_ENDIAN).getInt(archive.length - 6);
  }

  /** What follows the directory's begin. */
  private static byte[] tail(Path file, long start) {
    try (PositionedSource source = PositionedSource.open(file)) {
      byte[] tail = new byte[(int) (source.size() - start)];
      source.read(start, tail, 0, tail.length);
      return tail;
    }
  }

  // ---- the form

  @ParameterizedTest
  @CsvSource({
    "4294967294, 0, false",
    "4294967295, 0, true",
    "4294967296, 0, true",
  })
  void theDirectoryBeginsThere(long offset, int fields, boolean records) throws Exception {
    holds(withDirectoryAt(offset), offset, fields, records);
  }

  @ParameterizedTest
  @ValueSource(longs = {4294967294L, 4294967295L, 4294967296L})
  void aHeaderIsThere(long offset) throws Exception {
    int fields = entries.size() - (offset < ALL_ONES ? 1 : 0);
    holds(withHeaderAt(offset), offset + start(small), fields, true);
  }

  private static void holds(Path file, long start, int fields, boolean records) throws Exception {
    byte[] before = tail(dir.resolve("small.writ"), start(small));
    int more = ArchiveForm.CENTRAL_BYTES + ZEROS.length() + 12 * fields + (records ? 76 : 0);
    assertThat(tail(file, start)).hasSize(before.length + more);
    try (Archive archive = Archive.open(PositionedSource.open(file), BundleEntryNames::key);
        ZipFile zip = new ZipFile(file.toFile())) {
      assertThat(archive.entries()).isEqualTo(entries.size() + 1).isEqualTo(zip.size());
      int first = archive.find(ZEROS, BundleEntryNames.key(ZEROS)).orElseThrow();
      assertThat(archive.size(first)).isEqualTo(zip.getEntry(ZEROS).getSize());
      same(archive, zip);
    }
    same(file, entries.size() + 1);
  }

  private static void same(Archive archive, ZipFile zip) throws IOException {
    for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
      String name = entry.getKey();
      int at = archive.find(name, BundleEntryNames.key(name)).orElseThrow();
      archive.verify(at, Optional.empty(), archive.window());
      assertThat(archive.read(at, Integer.MAX_VALUE)).isEqualTo(entry.getValue());
      assertThat(zip.getInputStream(zip.getEntry(name)).readAllBytes()).isEqualTo(entry.getValue());
    }
  }

  private static Node.Result second(String mode, Path with, Path file) {
    return Node.run(
        List.of(
            Node.script("zip64.mjs").toString(),
            Node.VERIFIER.toString(),
            mode,
            with.toString(),
            file.toString()));
  }

  /** The second verifier finds the small bundle's entries among so many. */
  private static void same(Path file, int count) {
    Node.Result second = second("same", dir.resolve("small.writ"), file);
    assertThat(second.out()).isEqualTo(entries.size() + " of " + count + " entries are the same\n");
  }

  @Test
  void offsetsOfSeveralTimes4GiB() throws Exception {
    TreeMap<String, Long> zeros = new TreeMap<>();
    for (String digit : List.of("0", "1", "2")) {
      zeros.put(BundleEntryNames.BLOBS + digit + "0".repeat(63), ArchiveForm.CONTENT_MAX);
    }
    Path file = dir.resolve("12gib.writ");
    Sparse.write(file, entries, zeros);
    try (Archive archive = Archive.open(PositionedSource.open(file), BundleEntryNames::key);
        ZipFile zip = new ZipFile(file.toFile())) {
      assertThat(archive.entries()).isEqualTo(entries.size() + 3).isEqualTo(zip.size());
      same(archive, zip);
    }
    same(file, entries.size() + 3);
  }

  @Test
  void anEntryOf4GiBIsNotWritten() {
    TreeMap<String, Long> zeros = new TreeMap<>(Map.of(ZEROS, ArchiveForm.CONTENT_MAX + 1));
    Refusal.of(
        BundleError.ARCHIVE_BOUNDS,
        () -> Sparse.write(dir.resolve("refused.writ"), new TreeMap<>(), zeros));
  }

  // ---- other forms

  /** A file of which some bytes are others, and that ends elsewhere. */
  private record Changed(String what, long at, byte[] bytes, long length) {
    String first(Path file) {
      try (PositionedSource source = PositionedSource.open(file);
          Archive _ = Archive.open(new Patched(source, this), BundleEntryNames::key)) {
        return "-";
      } catch (WritException e) {
        return e.code().code();
      }
    }

    JsonValue toJson() {
      return JsonValue.object()
          .put("at", at)
          .put("bytes", HexFormat.of().formatHex(bytes))
          .put("length", length)
          .build();
    }
  }

  private record Patched(PositionedSource file, Changed changed) implements PositionedSource {
    @Override
    public long size() {
      return changed.length();
    }

    @Override
    public void read(long at, byte[] into, int from, int length) {
      long there = Math.clamp(file.size() - at, 0, length);
      file.read(at, into, from, (int) there);
      Arrays.fill(into, from + (int) there, from + length, (byte) 0);
      byte[] bytes = changed.bytes();
      long first = Math.max(at, changed.at());
      long last = Math.min(at + length, changed.at() + bytes.length);
      if (first < last) {
        int to = from + (int) (first - at);
        System.arraycopy(bytes, (int) (first - changed.at()), into, to, (int) (last - first));
      }
    }
  }

  private static Changed tail(String what, long start, byte[] tail) {
    return new Changed(what, start, tail, start + tail.length);
  }

  /** The directory and the end as a writer would make them that decides otherwise. */
  private static byte[] tail(Path file, long start, boolean fields, boolean records, long shown) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int count = 0;
    try (PositionedSource source = PositionedSource.open(file);
        Archive archive = Archive.open(source, BundleEntryNames::key)) {
      long at = 0;
      for (; count < archive.entries(); count++) {
        byte[] header = new byte[ArchiveForm.LOCAL_BYTES];
        source.read(at, header, 0, header.length);
        byte[] name = archive.name(count).getBytes(UTF_8);
        ByteBuffer local = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        long size = Integer.toUnsignedLong(local.getInt(22));
        // As if it were beyond where it is or not.
        byte[] central =
            ArchiveForm.central(name, local.getInt(14), size, fields ? ALL_ONES : at & 0x7fff_ffff);
        ByteBuffer changed = ByteBuffer.wrap(central).order(ByteOrder.LITTLE_ENDIAN);
        if (fields) {
          changed.putInt(42, (int) Math.min(at, shown));
          changed.putLong(central.length - Long.BYTES, at);
        } else {
          changed.putInt(42, (int) at);
        }
        out.writeBytes(central);
        at += header.length + name.length + size;
      }
    }
    long end = start + out.size();
    byte[] whole = ArchiveForm.end(count, Math.max(start, ALL_ONES), end);
    ByteBuffer ends = ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN);
    ends.putLong(40, end - start).putLong(48, start).putLong(64, end);
    ends.putInt(76 + 12, (int) (end - start)).putInt(76 + 16, (int) Math.min(start, shown));
    out.write(whole, records ? 0 : 76, whole.length - (records ? 0 : 76));
    return out.toByteArray();
  }

  private static List<Changed> others(Path file, long start, int step) {
    byte[] tail = tail(file, start);
    long length = start + tail.length;
    List<Changed> others = new ArrayList<>();
    for (int at = 0; at < tail.length; at += step) {
      byte[] flipped = tail.clone();
      flipped[at] ^= (byte) (1 << at % 8);
      others.add(tail("flipped byte " + at, start, flipped));
    }
    for (boolean fields : List.of(false, true)) {
      for (boolean records : List.of(false, true)) {
        for (long shown : List.of(ALL_ONES, Long.MAX_VALUE)) {
          byte[] other = tail(file, start, fields, records, shown);
          if (!Arrays.equals(other, tail)) {
            String what = "fields " + fields + ", records " + records + ", shown " + shown;
            others.add(tail(what, start, other));
          }
        }
      }
    }
    others.add(new Changed("cut", 0, new byte[0], length - 1));
    others.add(new Changed("cut before the directory", 0, new byte[0], start));
    others.add(new Changed("a byte more", 0, new byte[0], length + 1));
    others.add(new Changed("1 TiB and more", 0, new byte[0], ArchiveForm.BYTES_MAX + 1));
    others.add(new Changed("count", length - 14, new byte[] {-1, -1, -1, -1}, length));
    others.add(new Changed("local field", 28, new byte[] {20}, length));
    byte[] ones = new byte[8];
    Arrays.fill(ones, (byte) -1);
    others.add(new Changed("size", 18, ones, length));
    return others;
  }

  private static void refused(Path file, long start, int step) throws IOException {
    List<Changed> others = others(file, start, step);
    JsonValue.Arr cases = new JsonValue.Arr(others.stream().map(Changed::toJson).toList());
    Files.write(dir.resolve("cases.json"), Jcs.write(cases));
    Node.Result second = second("codes", dir.resolve("cases.json"), file);
    List<String> codes = second.out().lines().toList();
    assertThat(codes).as(second.out()).hasSameSizeAs(others);
    for (int i = 0; i < codes.size(); i++) {
      String what = others.get(i).what();
      String first = others.get(i).first(file);
      assertThat(first).as(what).isNotEqualTo("-").isEqualTo(codes.get(i));
      assertThat(what.startsWith("fields") ? first : BundleError.ARCHIVE_FORM.code())
          .as(what)
          .isEqualTo(BundleError.ARCHIVE_FORM.code());
    }
    System.out.println(codes.size() + " other forms refused, each by one code of both verifiers");
  }

  @ParameterizedTest
  @ValueSource(longs = {4294967294L, 4294967295L, 4294967296L})
  void anyOtherFormOfADirectoryThatBeginsThereIsRefused(long offset) throws IOException {
    refused(withDirectoryAt(offset), offset, LONG ? 1 : 7);
  }

  @ParameterizedTest
  @ValueSource(longs = {4294967294L, 4294967295L, 4294967296L})
  void anyOtherFormOfAHeaderThereIsRefused(long offset) throws IOException {
    refused(withHeaderAt(offset), offset + start(small), LONG || offset == ALL_ONES ? 1 : 7);
  }

  /** Such directories have 50 million entries and more, so here are the last bytes alone. */
  @Test
  void bothKnowTheSameEndOfADirectoryThatIsItselfSoLarge() {
    List<Long> sizes = List.of(0L, ALL_ONES - 1, ALL_ONES, ALL_ONES + 1, 1L << 33);
    StringBuilder wanted = new StringBuilder();
    for (int count : List.of(0, 1, 65_534, 65_535, 65_536, ArchiveForm.ENTRIES_MAX)) {
      for (long start : sizes) {
        for (long size : sizes) {
          byte[] end = ArchiveForm.end(count, start, start + size);
          boolean small = count < 65_535 && start < ALL_ONES && size < ALL_ONES;
          assertThat(end).hasSize(small ? 22 : ArchiveForm.ENDS_BYTES);
          wanted.append(count).append(' ').append(start).append(' ').append(start + size);
          wanted.append(' ').append(HexFormat.of().formatHex(end)).append('\n');
        }
      }
    }
    Path file = dir.resolve("ends.txt");
    try {
      Files.writeString(file, wanted);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    Node.Result second =
        Node.run(
            List.of(
                Node.script("zip64.mjs").toString(),
                Node.VERIFIER.toString(),
                "ends",
                file.toString()));
    assertThat(second.out()).isEqualTo("150 ends are the same\n");
  }

  // ---- other programs, and the whole

  @ParameterizedTest
  @ValueSource(
      strings = {
        "unzip -p FILE bundle.json",
        "python3 -c import sys,zipfile;"
            + "sys.stdout.write(zipfile.ZipFile('FILE').read('bundle.json').decode())",
      })
  void otherProgramsUnpackIt(String command) throws Exception {
    for (long offset : List.of(ALL_ONES - 1, ALL_ONES, ALL_ONES + 1)) {
      String file = withHeaderAt(offset).toString();
      List<String> words = new ArrayList<>();
      for (String word : command.split(" (?!sys)")) {
        words.add(word.replace("FILE", file));
      }
      assertThat(output(words))
          .isEqualTo(new String(entries.get(BundleEntryNames.MANIFEST), UTF_8));
    }
  }

  private static String output(List<String> command) throws InterruptedException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String out = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor()).as(out).isZero();
      return out;
    } catch (IOException e) {
      Assumptions.abort(command.getFirst() + " is not here: what needs it was not run");
      throw new AssertionError("abort returned", e);
    }
  }

  /** Only at their last step do they find that nothing names the zeros. */
  @Test
  void bothReadThroughWhatLiesBeyond() throws Exception {
    long count = LONG ? ALL_ONES + 1 - FIRST : READ_BYTES;
    var sha256 = Digest.newSha256();
    byte[] zeros = new byte[1 << 16];
    for (long left = count; left > 0; left -= zeros.length) {
      sha256.update(zeros, 0, (int) Math.min(left, zeros.length));
    }
    String name = BundleEntryNames.blob(Digest.ofBytes(sha256.digest()));
    Path file = dir.resolve("whole.writ");
    Sparse.write(file, entries, new TreeMap<>(Map.of(name, count)));
    try (Bundle bundle = Bundle.open(file)) {
      BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
      throw new AssertionError("it is verified");
    } catch (WritException e) {
      assertThat(e.code()).isEqualTo(BundleError.ENTRY_UNUSED);
      assertThat(e.found()).isEqualTo(name);
    }
    Node.Result second = Node.run(List.of(Node.VERIFIER.toString(), file.toString()));
    assertThat(second.out()).contains("RPL-024").contains(name);
    assertThat(output(List.of("unzip", "-t", file.toString()))).contains("No errors detected");
  }
}
