package dev.writ.canonicalize.json;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The members of an object: an immutable map ordered by the UTF-16 code units of its keys, which is
 * {@link String}'s natural order. Two arrays: most of a parsed document's memory is its members.
 */
final class SortedMembers extends AbstractMap<String, JsonValue>
    implements SortedMap<String, JsonValue> {
  /** Up to so many members a key is looked for by its hash. */
  private static final int FEW = 24;

  private final String[] keys;
  private final JsonValue[] values;
  private final int from;
  private final int to;

  /**
   * What {@link Fields#once} read these members as. Both are immutable, so it does not matter which
   * of two threads' is kept, nor that another thread may not see it yet.
   */
  private Object typed;

  /**
   * Takes arrays of one length, the keys strictly ascending; not copied, so the caller must not
   * keep them.
   */
  SortedMembers(String[] keys, JsonValue[] values) {
    this(keys, values, 0, keys.length);
  }

  private SortedMembers(String[] keys, JsonValue[] values, int from, int to) {
    this.keys = keys;
    this.values = values;
    this.from = from;
    this.to = to;
  }

  /** Copies a map, sorting it if it has another order. */
  static SortedMembers copyOf(SortedMap<String, JsonValue> members) {
    if (members instanceof SortedMembers already) {
      return already;
    }
    Map<String, JsonValue> sorted =
        members.comparator() == null ? members : new TreeMap<>((Map<String, JsonValue>) members);
    String[] keys = new String[sorted.size()];
    JsonValue[] values = new JsonValue[keys.length];
    int i = 0;
    for (Map.Entry<String, JsonValue> member : sorted.entrySet()) {
      keys[i] = Objects.requireNonNull(member.getKey());
      values[i++] = Objects.requireNonNull(member.getValue());
    }
    return new SortedMembers(keys, values);
  }

  /** The members of an object, which are always kept so. */
  static SortedMembers of(JsonValue.Obj object) {
    return (SortedMembers) object.members();
  }

  /** What was kept of that type; null where nothing was. */
  <T> T typed(Class<T> type) {
    Object known = typed;
    return type.isInstance(known) ? type.cast(known) : null;
  }

  void keep(Object read) {
    typed = read;
  }

  /** The key at that place, from 0. */
  String key(int at) {
    return keys[from + at];
  }

  /** The value at that place, from 0. */
  JsonValue value(int at) {
    return values[from + at];
  }

  /** The place of a key, from 0; negative where it is none of them. */
  int indexOf(String key) {
    if (to - from > FEW) {
      int i = Arrays.binarySearch(keys, from, to, key);
      return i < 0 ? -1 : i - from;
    }
    // Keys of documents are mostly the constants of the program's text (KnownKeys), so that the
    // object itself is found, without a look into the others.
    for (int i = from; i < to; i++) {
      if (isSame(keys[i], key)) {
        return i - from;
      }
    }
    // A string knows its hash once it was asked for; comparing the order would read the characters.
    int hash = key.hashCode();
    for (int i = from; i < to; i++) {
      String here = keys[i];
      if (here.hashCode() == hash && here.equals(key)) {
        return i - from;
      }
    }
    return -1;
  }

  @SuppressWarnings("ReferenceEquality")
  private static boolean isSame(Object one, Object other) {
    return one == other;
  }

  @Override
  public Comparator<? super String> comparator() {
    return null;
  }

  @Override
  public int size() {
    return to - from;
  }

  @Override
  public JsonValue get(Object key) {
    int i = indexOf((String) key);
    return i < 0 ? null : values[from + i];
  }

  @Override
  public boolean containsKey(Object key) {
    return get(key) != null;
  }

  @Override
  public SortedMap<String, JsonValue> subMap(String fromKey, String toKey) {
    if (fromKey.compareTo(toKey) > 0) {
      throw new IllegalArgumentException("the first key is greater than the second");
    }
    return new SortedMembers(keys, values, place(fromKey), place(toKey));
  }

  @Override
  public SortedMap<String, JsonValue> headMap(String toKey) {
    return new SortedMembers(keys, values, from, place(toKey));
  }

  @Override
  public SortedMap<String, JsonValue> tailMap(String fromKey) {
    return new SortedMembers(keys, values, place(fromKey), to);
  }

  /** The first place whose key is not less than this one. */
  private int place(String key) {
    int i = Arrays.binarySearch(keys, from, to, key);
    return i < 0 ? -i - 1 : i;
  }

  @Override
  public String firstKey() {
    return keyAt(from);
  }

  @Override
  public String lastKey() {
    return keyAt(to - 1);
  }

  private String keyAt(int i) {
    if (from == to) {
      throw new NoSuchElementException("no members");
    }
    return keys[i];
  }

  @Override
  public Set<Map.Entry<String, JsonValue>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public int size() {
        return to - from;
      }

      @Override
      public Iterator<Map.Entry<String, JsonValue>> iterator() {
        return new Entries();
      }
    };
  }

  private final class Entries implements Iterator<Map.Entry<String, JsonValue>> {
    private int next = from;

    @Override
    public boolean hasNext() {
      return next < to;
    }

    @Override
    public Map.Entry<String, JsonValue> next() {
      if (next == to) {
        throw new NoSuchElementException("no further member");
      }
      Map.Entry<String, JsonValue> entry = new SimpleImmutableEntry<>(keys[next], values[next]);
      next++;
      return entry;
    }
  }
}
