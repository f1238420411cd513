package dev.writ.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every {@link Storage} has to do, whatever is below it (spec/storage.md, "The database
 * below"). A subclass says how one is made and opened.
 */
public abstract class StorageContract {
  private static final byte[] ALL = {};

  /** Bytes at which comparisons go wrong: zero, the sign, the last one. */
  private static final byte[] EDGES = {0, 1, 'a', 'b', 0x7f, (byte) 0x80, (byte) 0xfe, (byte) 0xff};

  private Database database;
  private Storage storage;

  /** Where nothing has been made yet. It may refuse a second writer or stop the first. */
  protected abstract Database database();

  @BeforeEach
  void create() {
    database = database();
    storage = database.create();
  }

  @AfterEach
  void close() {
    storage.close();
  }

  // Rows, and what is expected of them

  private static byte[] hex(String digits) {
    return HexFormat.of().parseHex(digits);
  }

  private static byte[] text(String text) {
    return text.getBytes(UTF_8);
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static TreeMap<byte[], byte[]> ordered() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  private static List<String> shown(Map<byte[], byte[]> rows) {
    List<String> shown = new ArrayList<>();
    rows.forEach((key, value) -> shown.add(shown(key, value)));
    return shown;
  }

  private static String shown(byte[] key, byte[] value) {
    String hex = HexFormat.of().formatHex(value);
    return HexFormat.of().formatHex(key)
        + "="
        + (value.length > 64 ? value.length + " bytes, " + Arrays.hashCode(value) : hex);
  }

  private static String shown(Storage.Row row) {
    return shown(row.key(), row.value());
  }

  private List<String> scanned(Family family, byte[] prefix, byte[] from) {
    List<String> found = new ArrayList<>();
    storage.scan(
        family,
        prefix,
        from,
        (key, value) -> {
          found.add(shown(key, value));
          return true;
        });
    return found;
  }

  private List<String> all(Family family) {
    return scanned(family, ALL, ALL);
  }

  private static void write(Storage storage, Consumer<Write> rows) {
    write(storage, 0, 0, rows);
  }

  private static void write(Storage storage, long size, long newSize, Consumer<Write> rows) {
    try (Write write = storage.newWrite()) {
      rows.accept(write);
      for (long at = size; at < newSize; at++) {
        write.put(Family.LOG, number(at), text("leaf " + at));
      }
      storage.write(write, size, newSize);
    }
  }

  private void write(Consumer<Write> rows) {
    write(storage, rows);
  }

  private static void assertCode(String code, Runnable refused) {
    assertThatThrownBy(refused::run)
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code().code()).isEqualTo(code));
  }

  /** Every key of up to two edge bytes. */
  static List<byte[]> edgeKeys() {
    List<byte[]> keys = new ArrayList<>();
    for (byte first : EDGES) {
      keys.add(new byte[] {first});
      for (byte second : EDGES) {
        keys.add(new byte[] {first, second});
      }
    }
    return keys;
  }

  private TreeMap<byte[], byte[]> edgeRows(Family family) {
    TreeMap<byte[], byte[]> rows = ordered();
    List<byte[]> keys = new ArrayList<>(edgeKeys());
    Collections.shuffle(keys, new Random(1));
    keys.forEach(key -> rows.put(key, text("value of " + HexFormat.of().formatHex(key))));
    write(write -> keys.forEach(key -> write.put(family, key, rows.get(key))));
    return rows;
  }

  // Order

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LOG")
  void keysAreOrderedAsUnsignedBytes(Family family) {
    TreeMap<byte[], byte[]> rows = edgeRows(family);
    assertThat(all(family)).isEqualTo(shown(rows));
    assertThat(storage.last(family).map(StorageContract::shown))
        .contains(shown(rows.lastKey(), rows.lastEntry().getValue()));
  }

  static Stream<byte[]> prefixes() {
    return Stream.concat(
        Stream.of(ALL, hex("ffffff"), hex("0000"), hex("c0"), hex("80ff")),
        IntStream.range(0, EDGES.length).mapToObj(i -> new byte[] {EDGES[i]}));
  }

  @ParameterizedTest
  @MethodSource("prefixes")
  void aScanHasTheRowsThatBeginSo(byte[] prefix) {
    TreeMap<byte[], byte[]> rows = edgeRows(Family.TABLES);
    rows.keySet().removeIf(key -> !Storage.startsWith(key, prefix));
    assertThat(scanned(Family.TABLES, prefix, prefix)).isEqualTo(shown(rows));
  }

  static Stream<byte[]> beginnings() {
    return Stream.concat(
        prefixes(), Stream.of(hex("0001"), hex("7f80"), hex("8000"), hex("fffe"), hex("ff00")));
  }

  @ParameterizedTest
  @MethodSource("beginnings")
  void aScanBeginsWhereItIsToldTo(byte[] from) {
    TreeMap<byte[], byte[]> rows = edgeRows(Family.TABLES);
    assertThat(scanned(Family.TABLES, ALL, from)).isEqualTo(shown(rows.tailMap(from, true)));
    if (from.length == 2) {
      byte[] prefix = {from[0]};
      rows.keySet().removeIf(key -> !Storage.startsWith(key, prefix));
      assertThat(scanned(Family.TABLES, prefix, from)).isEqualTo(shown(rows.tailMap(from, true)));
    }
  }

  @ParameterizedTest
  @MethodSource("beginnings")
  void theLeastKeyFromThereOnIsFound(byte[] from) {
    TreeMap<byte[], byte[]> rows = edgeRows(Family.CHECKPOINTS);
    assertThat(storage.atLeast(Family.CHECKPOINTS, from).map(StorageContract::shown))
        .isEqualTo(
            Optional.ofNullable(rows.ceilingEntry(from))
                .map(row -> shown(row.getKey(), row.getValue())));
  }

  @ParameterizedTest
  @EnumSource
  void anEmptyFamilyHasNothing(Family family) {
    assertThat(storage.get(family, text("a"))).isEmpty();
    assertThat(storage.has(family, text("a"))).isFalse();
    assertThat(storage.last(family)).isEmpty();
    assertThat(storage.atLeast(family, ALL)).isEmpty();
    assertThat(all(family)).isEmpty();
  }

  @Test
  void familiesAreApart() {
    byte[] key = number(0);
    write(
        storage,
        0,
        1,
        write -> {
          for (Family family : Family.values()) {
            write.put(family, key, text(family.name()));
          }
        });
    for (Family family : Family.values()) {
      String expected = family == Family.LOG ? "leaf 0" : family.name();
      assertThat(storage.get(family, key)).as(family.name()).contains(text(expected));
    }
    write(storage, 1, 1, write -> write.delete(Family.BLOBS, key));
    assertThat(storage.has(Family.BLOBS, key)).isFalse();
    assertThat(storage.has(Family.FILES, key)).isTrue();
  }

  // Keys and values of every size

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 31, 32, 33, 127, 128, 1023, 8192, 65_535, 65_536, 65_537, 1 << 20})
  void valuesOfAnySizeComeBack(int length) {
    byte[] value = bytes(new Random(length), length);
    for (Family family : List.of(Family.TABLES, Family.BLOBS, Family.DOCUMENTS, Family.EVENTS)) {
      write(write -> write.put(family, text("key"), value));
      assertThat(storage.get(family, text("key")).orElseThrow()).isEqualTo(value);
      assertThat(storage.last(family).orElseThrow().value()).isEqualTo(value);
      assertThat(storage.atLeast(family, ALL).orElseThrow().value()).isEqualTo(value);
      assertThat(all(family)).containsExactly(shown(text("key"), value));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 32, 255, 256, 257, 1023, 1024})
  void keysOfAnySizeComeBack(int length) {
    byte[] key = bytes(new Random(length), length);
    byte[] next = Arrays.copyOf(key, length + 1);
    write(write -> {
      write.put(Family.TABLES, next, text("next"));
      write.put(Family.TABLES, key, text("key"));
    });
    assertThat(storage.get(Family.TABLES, key)).contains(text("key"));
    assertThat(storage.get(Family.TABLES, next)).contains(text("next"));
    assertThat(storage.get(Family.TABLES, Arrays.copyOf(key, length - 1))).isEmpty();
    assertThat(scanned(Family.TABLES, key, key))
        .containsExactly(shown(key, text("key")), shown(next, text("next")));
    assertThat(scanned(Family.TABLES, key, next)).containsExactly(shown(next, text("next")));
  }

  /** What begins as an event, an envelope or a packed value begins, and is none. */
  static Stream<String> almostRows() {
    return Stream.of(
        "",
        "00",
        "02",
        "03",
        "7b",
        "7b7d",
        "7b02",
        "7b0500",
        "0201",
        "03ffffffffff",
        "0000000000",
        "000000000000000002",
        "00000000000000007b7d",
        "000000000000000002000000000000000000");
  }

  @ParameterizedTest
  @MethodSource("almostRows")
  void rowsOfOtherFormsComeBackAsTheyAre(String digits) {
    byte[] value = hex(digits);
    for (Family family : Family.values()) {
      if (family != Family.LOG) {
        write(write -> write.put(family, text("key"), value));
        assertThat(storage.get(family, text("key"))).as(family.name()).contains(value);
        assertThat(storage.last(family).map(Storage.Row::value)).contains(value);
      }
    }
  }

  // Within a write

  /** Up to three operations on one key, with and without a row before. */
  static Stream<String> operations() {
    List<String> all = new ArrayList<>();
    for (String before : List.of("", "o")) {
      for (String first : List.of("a", "b", "-")) {
        all.add(before + ":" + first);
        for (String second : List.of("a", "b", "-")) {
          all.add(before + ":" + first + second);
          for (String third : List.of("a", "b", "-")) {
            all.add(before + ":" + first + second + third);
          }
        }
      }
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("operations")
  void ofAKeyTheLaterOperationCounts(String operations) {
    String before = operations.substring(0, operations.indexOf(':'));
    String within = operations.substring(before.length() + 1);
    byte[] key = text("key");
    if (!before.isEmpty()) {
      write(write -> write.put(Family.TABLES, key, text(before)));
    }
    write(write -> {
      for (char operation : within.toCharArray()) {
        if (operation == '-') {
          write.delete(Family.TABLES, key);
        } else {
          write.put(Family.TABLES, key, text(String.valueOf(operation)));
        }
      }
    });
    char last = within.charAt(within.length() - 1);
    assertThat(storage.get(Family.TABLES, key).map(value -> new String(value, UTF_8)))
        .isEqualTo(last == '-' ? Optional.empty() : Optional.of(String.valueOf(last)));
  }

  /** Until it is removed. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LOG")
  void aRowThatIsPutWhereItIsNewLeavesOneThatIsThere(Family family) {
    byte[] key = text("key");
    write(write -> write.putNew(family, key, text("first")));
    assertThat(storage.get(family, key)).contains(text("first"));
    write(write -> {
      write.putNew(family, key, text("second"));
      write.putNew(family, text("other"), text("second"));
    });
    assertThat(storage.get(family, key)).contains(text("first"));
    assertThat(storage.get(family, text("other"))).contains(text("second"));
    write(write -> write.delete(family, key));
    assertThat(storage.get(family, key)).isEmpty();
    write(write -> write.putNew(family, key, text("third")));
    assertThat(storage.get(family, key)).contains(text("third"));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LOG")
  void whatIsExpectedIsFoundAsWithoutThat(Family family) {
    byte[] there = text("there");
    byte[] absent = text("absent");
    write(write -> write.put(family, there, text("one")));
    storage.expect(() ->
        List.of(
            new Storage.Name(family, there),
            new Storage.Name(family, absent),
            new Storage.Name(family, there)));
    assertThat(storage.get(family, there)).contains(text("one"));
    assertThat(storage.has(family, absent)).isFalse();
    write(write -> {
      write.put(family, absent, text("two"));
      write.delete(family, there);
    });
    assertThat(storage.get(family, there)).isEmpty();
    assertThat(storage.has(family, there)).isFalse();
    assertThat(storage.get(family, absent)).contains(text("two"));
  }

  @Test
  void aWriteWithoutRowsAndOneThatDeletesNothingChangeNothing() {
    write(write -> write.put(Family.TABLES, text("key"), text("value")));
    write(write -> {});
    write(write -> write.delete(Family.TABLES, text("another")));
    assertThat(all(Family.TABLES)).containsExactly(shown(text("key"), text("value")));
  }

  @Test
  void whatIsNotWrittenIsNotThere() {
    try (Write write = storage.newWrite()) {
      long empty = write.bytes();
      write.put(Family.TABLES, text("key"), new byte[1000]);
      assertThat(write.bytes()).isBetween(empty + 1000, empty + 1200);
      assertThat(storage.has(Family.TABLES, text("key"))).isFalse();
    }
    assertThat(all(Family.TABLES)).isEmpty();
  }

  @Test
  void writesInTheMakingDoNotDisturbEachOther() {
    try (Write first = storage.newWrite();
        Write second = storage.newWrite()) {
      first.put(Family.TABLES, text("a"), text("first"));
      second.put(Family.TABLES, text("a"), text("second"));
      second.put(Family.TABLES, text("b"), text("second"));
      storage.write(second, 0, 0);
      storage.write(first, 0, 0);
    }
    assertThat(all(Family.TABLES))
        .containsExactly(shown(text("a"), text("first")), shown(text("b"), text("second")));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 511, 512, 513, 3000})
  void manyRowsInOneWrite(int count) {
    TreeMap<byte[], byte[]> rows = ordered();
    Random random = new Random(count);
    for (int i = 0; i < count; i++) {
      rows.put(bytes(random, 32), bytes(random, random.nextInt(100)));
    }
    write(write -> rows.forEach((key, value) -> write.put(Family.RUNS, key, value)));
    assertThat(all(Family.RUNS)).isEqualTo(shown(rows));
    write(write -> rows.keySet().forEach(key -> write.delete(Family.RUNS, key)));
    assertThat(all(Family.RUNS)).isEmpty();
  }

  // Reading what was written

  @Test
  void whoeverReadsAfterAWriteSeesIt() throws Exception {
    try (ExecutorService others = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 30; i++) {
        byte[] value = number(i);
        write(write -> write.put(Family.TABLES, text("key"), value));
        assertThat(storage.get(Family.TABLES, text("key"))).contains(value);
        assertThat(others.submit(() -> storage.get(Family.TABLES, text("key"))).get())
            .contains(value);
      }
    }
  }

  @Test
  void severalKeysAreLookedUpAtOnceAndInOrder() {
    write(write -> {
      write.put(Family.DOCUMENTS, text("a"), text("1"));
      write.put(Family.DOCUMENTS, text("c"), ALL);
    });
    assertThat(storage.has(Family.DOCUMENTS, List.of())).isEmpty();
    assertThat(
            storage.has(
                Family.DOCUMENTS,
                List.of(text("c"), text("b"), text("a"), text("c"), text(""), text("ca"))))
        .containsExactly(true, false, true, true, false, false);
    assertThat(storage.has(Family.BLOBS, List.of(text("a")))).containsExactly(false);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 64, 65, 512, 513, 1100})
  void aVisitorEndsAScan(int after) {
    write(write -> {
      for (int i = 0; i < 1100; i++) {
        write.put(Family.TABLES, number(i), number(i));
      }
    });
    List<byte[]> visited = new ArrayList<>();
    storage.scan(
        Family.TABLES,
        ALL,
        ALL,
        (key, _) -> {
          visited.add(key);
          return visited.size() < after;
        });
    assertThat(visited).hasSize(after);
    assertThat(visited.getLast()).isEqualTo(number(after - 1));
  }

  @Test
  void aVisitorThatFailsEndsAScanAndNothingElse() {
    write(write -> write.put(Family.TABLES, text("key"), text("value")));
    assertThatThrownBy(() ->
            storage.scan(
                Family.TABLES,
                ALL,
                ALL,
                (_, _) -> {
                  throw new IllegalStateException("of the visitor");
                }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("of the visitor");
    write(write -> write.put(Family.TABLES, text("key"), text("later")));
    assertThat(all(Family.TABLES)).containsExactly(shown(text("key"), text("later")));
  }

  @ParameterizedTest
  @EnumSource(names = {"EVENTS", "TABLES", "DOCUMENTS"})
  void aScanSeesOneMomentWhileAnotherThreadWrites(Family family) {
    TreeMap<byte[], byte[]> rows = ordered();
    for (int i = 0; i < 1200; i += 2) {
      rows.put(number(i), number(i));
    }
    write(write -> rows.forEach((key, value) -> write.put(family, key, value)));
    List<String> seen = new ArrayList<>();
    storage.scan(
        family,
        ALL,
        ALL,
        (key, value) -> {
          seen.add(shown(key, value));
          if (seen.size() == 3) {
            joined(() ->
                write(write -> {
                  for (int i = 0; i < 1200; i++) {
                    if (i % 4 == 0) {
                      write.delete(family, number(i));
                    } else {
                      write.put(family, number(i), text("later"));
                    }
                  }
                }));
          }
          return true;
        });
    assertThat(seen).isEqualTo(shown(rows));
    assertThat(all(family)).hasSize(900).contains(shown(number(1), text("later")));
  }

  private static void joined(Runnable work) {
    try (ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      other.submit(work).get();
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aVisitorMayReadAndScan() {
    write(
        storage,
        0,
        600,
        write -> {
          for (int i = 0; i < 600; i++) {
            write.put(Family.EVENTS, number(i), text("event " + i));
          }
        });
    List<String> found = new ArrayList<>();
    storage.scan(
        Family.LOG,
        ALL,
        ALL,
        (key, _) -> {
          String event = new String(storage.get(Family.EVENTS, key).orElseThrow(), UTF_8);
          storage.scan(
              Family.EVENTS,
              key,
              key,
              (_, value) -> {
                found.add(event + "," + new String(value, UTF_8));
                return true;
              });
          return true;
        });
    assertThat(found).hasSize(600).endsWith("event 599,event 599");
  }

  /** More at once than a storage may have connections. */
  @Test
  void scansInManyThreadsDoNotWaitForEachOther() throws Exception {
    write(write -> {
      for (int i = 0; i < 40; i++) {
        write.put(Family.TABLES, number(i), number(i));
      }
    });
    try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> counts = new ArrayList<>();
      for (int thread = 0; thread < 32; thread++) {
        counts.add(
            readers.submit(() -> {
              int[] count = {0};
              storage.scan(
                  Family.TABLES,
                  ALL,
                  ALL,
                  (key, _) -> {
                    count[0] += storage.has(Family.TABLES, key) ? 1 : 0;
                    return true;
                  });
              return count[0];
            }));
      }
      for (Future<Integer> count : counts) {
        assertThat(count.get()).isEqualTo(40);
      }
    }
  }

  @Test
  void readersBesideAWriterSeeWholeWritesInOrder() throws Exception {
    int rows = 5;
    AtomicBoolean done = new AtomicBoolean();
    try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Long>> ends = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        ends.add(readers.submit(() -> lastSeen(rows, done)));
      }
      for (long i = 1; i <= 200; i++) {
        byte[] value = number(i);
        write(write -> {
          for (int row = 0; row < rows; row++) {
            write.put(Family.TABLES, number(row), value);
          }
        });
      }
      done.set(true);
      for (Future<Long> end : ends) {
        assertThat(end.get()).isEqualTo(200);
      }
    }
  }

  private long lastSeen(int rows, AtomicBoolean done) {
    long before = 0;
    while (true) {
      boolean isLast = done.get();
      List<Long> seen = new ArrayList<>();
      storage.scan(
          Family.TABLES,
          ALL,
          ALL,
          (_, value) -> {
            seen.add(ByteBuffer.wrap(value).getLong());
            return true;
          });
      if (!seen.isEmpty()) {
        assertThat(seen).hasSize(rows).containsOnly(seen.getFirst());
        assertThat(seen.getFirst()).isGreaterThanOrEqualTo(before);
        before = seen.getFirst();
      }
      if (isLast) {
        return before;
      }
    }
  }

  // One writer

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 4, 5, 1L << 40})
  void aWriteThatBelievesInAnotherSizeIsRefusedAndLeavesNothing(long size) {
    write(storage, 0, 3, write -> write.put(Family.TABLES, text("key"), text("value")));
    List<String> log = all(Family.LOG);
    assertCode(
        "LED-074",
        () -> {
          try (Write write = storage.newWrite()) {
            write.put(Family.TABLES, text("key"), text("wrong"));
            write.put(Family.DOCUMENTS, text("key"), text("wrong"));
            write.put(Family.LOG, number(size), text("wrong"));
            write.delete(Family.LOG, number(0));
            storage.write(write, size, size + 1);
          }
        });
    assertThat(all(Family.TABLES)).containsExactly(shown(text("key"), text("value")));
    assertThat(all(Family.DOCUMENTS)).isEmpty();
    assertThat(all(Family.LOG)).isEqualTo(log);
    storage.close();
    storage = database.open();
    assertThat(all(Family.TABLES)).containsExactly(shown(text("key"), text("value")));
    write(storage, 3, 4, write -> write.put(Family.TABLES, text("key"), text("right")));
    assertThat(all(Family.LOG)).hasSize(4);
  }

  @Test
  void aSecondWriterIsRefusedOrTheFirstIs() {
    write(storage, 0, 2, write -> write.put(Family.TABLES, text("key"), text("first")));
    Storage second;
    try {
      second = database.open();
    } catch (WritException e) {
      assertThat(e.code().code()).isEqualTo("LED-003");
      write(storage, 2, 3, write -> write.put(Family.TABLES, text("key"), text("still")));
      assertThat(storage.get(Family.TABLES, text("key"))).contains(text("still"));
      return;
    }
    try (second) {
      write(second, 2, 3, write -> write.put(Family.TABLES, text("key"), text("second")));
      for (long size : List.of(2L, 3L)) {
        assertThatThrownBy(() ->
                write(
                    storage,
                    size,
                    size + 1,
                    write -> write.put(Family.TABLES, text("key"), text("stale"))))
            .isInstanceOf(WritException.class);
      }
      assertThat(second.get(Family.TABLES, text("key"))).contains(text("second"));
    }
  }

  // Opening and closing

  @Test
  void aClosedStorageRefusesEveryCall() {
    write(write -> write.put(Family.TABLES, text("key"), text("value")));
    Write left = storage.newWrite();
    left.put(Family.TABLES, text("key"), text("later"));
    storage.close();
    storage.close();
    assertCode("LED-023", () -> storage.get(Family.TABLES, text("key")));
    assertCode("LED-023", () -> storage.has(Family.TABLES, text("key")));
    assertCode("LED-023", () -> storage.has(Family.TABLES, List.of(text("key"))));
    assertCode("LED-023", () -> storage.last(Family.TABLES));
    assertCode("LED-023", () -> storage.atLeast(Family.TABLES, text("key")));
    assertCode("LED-023", () -> all(Family.TABLES));
    assertCode("LED-023", () -> storage.write(left, 0, 0));
    storage = database.open();
    assertThat(all(Family.TABLES)).containsExactly(shown(text("key"), text("value")));
  }

  @Test
  void aReaderSeesWhatIsDurableOnceItHasCaughtUp() {
    write(storage, 0, 2, write -> write.put(Family.TABLES, text("key"), text("value")));
    try (Storage reader = database.openReader()) {
      assertThat(reader.get(Family.TABLES, text("key"))).contains(text("value"));
      assertThat(reader.last(Family.LOG).map(Storage.Row::key)).contains(number(1));
      reader.catchUp();
      assertThat(reader.has(Family.LOG, List.of(number(1), number(2))))
          .containsExactly(true, false);
    }
    write(storage, 2, 3, write -> write.put(Family.TABLES, text("key"), text("later")));
    try (Storage reader = database.openReader()) {
      assertThat(reader.get(Family.TABLES, text("key"))).contains(text("later"));
    }
  }

  @Test
  void closingWaitsForThoseWhoRead() throws Exception {
    write(write -> {
      for (int i = 0; i < 2000; i++) {
        write.put(Family.TABLES, number(i), new byte[100]);
      }
    });
    try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> ends = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        ends.add(
            readers.submit(() -> {
              while (true) {
                try {
                  assertThat(all(Family.TABLES)).hasSize(2000);
                } catch (WritException e) {
                  assertThat(e.code().code()).isEqualTo("LED-023");
                  return;
                }
              }
            }));
      }
      storage.close();
      for (Future<?> end : ends) {
        end.get();
      }
    }
  }

  @Test
  void upkeepChangesNoRow() {
    write(
        storage,
        0,
        10,
        write -> {
          for (Family family : Family.values()) {
            if (family != Family.LOG) {
              write.put(family, text("kept"), new byte[5000]);
              write.put(family, text("deleted"), new byte[5000]);
            }
          }
          write.put(Family.DEFAULT, text("origin"), text("as every ledger has"));
        });
    Map<Family, List<String>> before = new EnumMap<>(Family.class);
    write(
        storage,
        10,
        10,
        write -> {
          for (Family family : Family.values()) {
            write.delete(family, text("deleted"));
          }
        });
    for (Family family : Family.values()) {
      before.put(family, all(family));
    }
    storage.expectMuch();
    storage.forgetDeleted();
    storage.forgetUnused();
    storage.verifyChecksums();
    before.forEach((family, rows) -> assertThat(all(family)).isEqualTo(rows));
    write(storage, 10, 11, write -> write.put(Family.BLOBS, text("new"), text("value")));
    assertThat(storage.has(Family.BLOBS, text("new"))).isTrue();
  }

  // Against a map

  static LongStream seeds() {
    return LongStream.range(0, Integer.getInteger("writ.seeds", 8));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void itAnswersAsAMapDoes(long seed) {
    Random random = new Random(seed);
    Map<Family, TreeMap<byte[], byte[]>> model = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      model.put(family, ordered());
    }
    long size = 0;
    for (int step = 0; step < 60; step++) {
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> size = writeRandomly(random, model, size);
        case 3 -> {
          if (random.nextInt(4) == 0) {
            storage.close();
            storage = database.open();
          }
        }
        default -> lookRandomly(random, model);
      }
    }
    for (Family family : Family.values()) {
      assertThat(all(family)).as(family.name()).isEqualTo(shown(model.get(family)));
    }
  }

  private static byte[] randomKey(Random random) {
    byte[] key = new byte[1 + random.nextInt(3)];
    for (int i = 0; i < key.length; i++) {
      key[i] = EDGES[random.nextInt(EDGES.length)];
    }
    return key;
  }

  private static Family randomFamily(Random random) {
    Family family = Family.values()[random.nextInt(Family.values().length)];
    return family == Family.LOG ? Family.EVENTS : family;
  }

  private long writeRandomly(Random random, Map<Family, TreeMap<byte[], byte[]>> model, long size) {
    long newSize = size + random.nextInt(4);
    write(
        storage,
        size,
        newSize,
        write -> {
          int operations = random.nextInt(40);
          for (int i = 0; i < operations; i++) {
            Family family = randomFamily(random);
            byte[] key = randomKey(random);
            if (random.nextInt(4) == 0) {
              write.delete(family, key);
              model.get(family).remove(key);
            } else {
              byte[] value = bytes(random, random.nextInt(random.nextInt(20) == 0 ? 5000 : 40));
              write.put(family, key, value);
              model.get(family).put(key, value);
            }
          }
        });
    for (long at = size; at < newSize; at++) {
      model.get(Family.LOG).put(number(at), text("leaf " + at));
    }
    return newSize;
  }

  private void lookRandomly(Random random, Map<Family, TreeMap<byte[], byte[]>> model) {
    Family family = Family.values()[random.nextInt(Family.values().length)];
    TreeMap<byte[], byte[]> rows = model.get(family);
    byte[] key = randomKey(random);
    switch (random.nextInt(5)) {
      case 0 ->
          assertThat(storage.get(family, key).map(value -> shown(key, value)))
              .isEqualTo(Optional.ofNullable(rows.get(key)).map(value -> shown(key, value)));
      case 1 -> {
        List<byte[]> keys = List.of(key, randomKey(random), randomKey(random));
        assertThat(storage.has(family, keys))
            .isEqualTo(keys.stream().map(rows::containsKey).toList());
      }
      case 2 ->
          assertThat(storage.atLeast(family, key).map(StorageContract::shown))
              .isEqualTo(
                  Optional.ofNullable(rows.ceilingEntry(key))
                      .map(row -> shown(row.getKey(), row.getValue())));
      case 3 ->
          assertThat(storage.last(family).map(StorageContract::shown))
              .isEqualTo(
                  Optional.ofNullable(rows.lastEntry())
                      .map(row -> shown(row.getKey(), row.getValue())));
      default -> {
        byte[] prefix = Arrays.copyOf(key, random.nextInt(key.length + 1));
        TreeMap<byte[], byte[]> expected = ordered();
        expected.putAll(rows.tailMap(key, true));
        expected.keySet().removeIf(found -> !Storage.startsWith(found, prefix));
        assertThat(scanned(family, prefix, key)).isEqualTo(shown(expected));
      }
    }
  }
}
