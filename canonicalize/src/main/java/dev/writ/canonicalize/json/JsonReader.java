package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Builds the value of a text while it is scanned, and sees whether the text is canonical. */
final class JsonReader extends JsonScanner {
  private static final JsonValue EMPTY_ARRAY = new JsonValue.Arr(List.of());

  /** The finished values of the open containers; for members, their keys and where these stand. */
  private JsonValue[] values = new JsonValue[16];

  private String[] keys = new String[16];
  private int[] places = new int[16];
  private int size;

  /**
   * For each open container, where its values begin; the bitwise complement for an object out of
   * order.
   */
  private final IntStack bases = new IntStack(16);

  private final byte[] scratch = new byte[EcmaNumbers.LENGTH_MAX];

  /** Where the text first departs from canonical form, or -1. */
  private int departure = -1;

  JsonReader(byte[] in, Limits limits) {
    super(in, limits);
  }

  JsonValue read() {
    scan();
    return values[0];
  }

  /**
   * @throws WritException {@code CAN-012} where the text is not canonical
   */
  JsonValue readCanonical() {
    JsonValue value = read();
    if (departure >= 0) {
      throw refuse(CanonicalizeError.NOT_CANONICAL, departure);
    }
    return value;
  }

  private void departs(int at) {
    if (departure < 0) {
      departure = at;
    }
  }

  private void add(JsonValue value) {
    if (size == values.length) {
      grow();
    }
    values[size++] = value;
  }

  private void grow() {
    values = Arrays.copyOf(values, 2 * size);
    keys = Arrays.copyOf(keys, 2 * size);
    places = Arrays.copyOf(places, 2 * size);
  }

  /** Keeps a place for the container, whose values come behind it. */
  private void open() {
    add(null);
    bases.push(size);
  }

  private void close(int base, JsonValue container) {
    Arrays.fill(values, base, size, null);
    size = base;
    values[base - 1] = container;
  }

  @Override
  void space(int start, int end) {
    departs(start);
  }

  @Override
  void openObject(int start) {
    open();
  }

  @Override
  void closeObject(int at) {
    int base = bases.pop();
    boolean outOfOrder = base < 0;
    base = outOfOrder ? ~base : base;
    SortedMembers members =
        outOfOrder
            ? sorted(base)
            : new SortedMembers(
                Arrays.copyOfRange(keys, base, size), Arrays.copyOfRange(values, base, size));
    close(base, new JsonValue.Obj(members));
  }

  private SortedMembers sorted(int base) {
    int[] order = MergeSort.range(base, size, (a, b) -> keys[a].compareTo(keys[b]));
    String[] sortedKeys = new String[order.length];
    JsonValue[] sortedValues = new JsonValue[order.length];
    int duplicate = Integer.MAX_VALUE;
    for (int i = 0; i < order.length; i++) {
      sortedKeys[i] = keys[order[i]];
      sortedValues[i] = values[order[i]];
      if (i > 0 && sortedKeys[i].equals(sortedKeys[i - 1])) {
        duplicate = Math.min(duplicate, places[order[i]]);
      }
    }
    if (duplicate != Integer.MAX_VALUE) {
      throw refuse(CanonicalizeError.DUPLICATE_KEY, duplicate);
    }
    return new SortedMembers(sortedKeys, sortedValues);
  }

  @Override
  void openArray() {
    open();
  }

  @Override
  void closeArray() {
    int base = bases.pop();
    close(
        base,
        base == size
            ? EMPTY_ARRAY
            : new JsonValue.Arr(List.of(Arrays.copyOfRange(values, base, size))));
  }

  @Override
  void key(int start, int end, boolean escaped, boolean canonical) {
    String key =
        escaped || !canonical ? text(start, end, escaped, canonical) : KnownKeys.of(in, start, end);
    int top = bases.size() - 1;
    int base = bases.get(top);
    if (size > (base < 0 ? ~base : base) && keys[size - 1].compareTo(key) >= 0) {
      bases.set(top, base < 0 ? base : ~base);
      departs(start - 1);
    }
    if (size == keys.length) {
      grow();
    }
    keys[size] = key;
    places[size] = start - 1;
  }

  @Override
  void string(int start, int end, boolean escaped, boolean canonical) {
    add(new JsonValue.Str(text(start, end, escaped, canonical)));
  }

  private String text(int start, int end, boolean escaped, boolean canonical) {
    if (!canonical) {
      departs(start - 1);
    }
    if (!escaped) {
      return new String(in, start, end - start, StandardCharsets.UTF_8);
    }
    ByteSink resolved = new ByteSink(ByteSink.MAX);
    resolved.room(end - start);
    Escapes.resolve(in, start, end, false, resolved);
    return new String(resolved.array(), 0, resolved.length(), StandardCharsets.UTF_8);
  }

  @Override
  void integer(int start, int end, long value) {
    add(new JsonValue.Num(value));
  }

  @Override
  void number(int start, int end, Decimal value) {
    add(new JsonValue.Num(value.value()));
    if (departure < 0) {
      int length = value.write(scratch, 0);
      if (!Arrays.equals(in, start, end, scratch, 0, length)) {
        departs(start);
      }
    }
  }

  @Override
  void literal(JsonValue value) {
    add(value);
  }
}
