package dev.writ.ledger.form;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;

/**
 * Rows that are looked up by their whole key, in a temporary file: memory holds an index of 12
 * bytes a place. There is no file until the rows fill the buffer. A row that is put again leaves
 * its earlier record in the file. Not thread safe.
 *
 * <p>A record is the length of the key, the length of the value or −1 where the row was removed, 4
 * bytes each, then both, packed. Records begin at multiples of 8.
 */
public final class RowFile implements AutoCloseable {
  private static final int HEADER = 8;
  private static final int ALIGNMENT = 8;
  private static final int REMOVED = -1;
  private static final int FIRST_PLACES = 64;

  /** What a lookup reads at first; most records are shorter. */
  private static final int READ_BYTES = 512;

  /** Of what the index can say: 32 GiB. */
  private static final long BYTES_MAX = (1L << Integer.SIZE) * ALIGNMENT - ALIGNMENT;

  private final byte[] buffer;
  private int buffered;
  private long written;
  private Optional<FileChannel> file = Optional.empty();
  private long[] hashes = new long[FIRST_PLACES];

  /** Where records begin, in units of 8 bytes, plus one; 0 for none. */
  private int[] records = new int[FIRST_PLACES];

  private int used;

  /**
   * @param bufferBytes how much is written at once
   */
  public RowFile(int bufferBytes) {
    buffer = new byte[bufferBytes];
  }

  public Optional<byte[]> get(byte[] key) {
    byte[] packed = Packing.pack(key);
    int place = place(packed, hash(packed));
    return records[place] == 0 ? Optional.empty() : value(read(records[place]));
  }

  public void put(byte[] key, byte[] value) {
    byte[] packed = Packing.pack(value);
    put(Packing.pack(key), packed, packed.length);
  }

  public void remove(byte[] key) {
    put(Packing.pack(key), new byte[0], REMOVED);
  }

  private void put(byte[] key, byte[] value, int valueLength) {
    long hash = hash(key);
    int place = place(key, hash);
    int record = append(key, value, valueLength);
    used += records[place] == 0 ? 1 : 0;
    hashes[place] = hash;
    records[place] = record;
    if (used > records.length / 4 * 3) {
      grow();
    }
  }

  /** Keys come from whoever made the requests, who must not be able to choose their places. */
  private static long hash(byte[] key) {
    return ByteBuffer.wrap(Digest.sha256(key).bytes()).getLong();
  }

  /** The place of the key's record, or the free one that it gets. */
  private int place(byte[] key, long hash) {
    int place = (int) hash & records.length - 1;
    while (records[place] != 0
        && !(hashes[place] == hash && Arrays.equals(key(read(records[place])), key))) {
      place = place + 1 & records.length - 1;
    }
    return place;
  }

  private void grow() {
    long[] oldHashes = hashes;
    int[] oldRecords = records;
    hashes = new long[2 * oldHashes.length];
    records = new int[2 * oldRecords.length];
    for (int i = 0; i < oldRecords.length; i++) {
      if (oldRecords[i] != 0) {
        int place = (int) oldHashes[i] & records.length - 1;
        while (records[place] != 0) {
          place = place + 1 & records.length - 1;
        }
        hashes[place] = oldHashes[i];
        records[place] = oldRecords[i];
      }
    }
  }

  private static byte[] key(ByteBuffer record) {
    return slice(record, HEADER, record.getInt(0));
  }

  private static Optional<byte[]> value(ByteBuffer record) {
    int length = record.getInt(4);
    return length == REMOVED
        ? Optional.empty()
        : Optional.of(Packing.unpack(slice(record, HEADER + record.getInt(0), length), 0));
  }

  private static byte[] slice(ByteBuffer record, int from, int length) {
    byte[] bytes = new byte[length];
    record.get(from, bytes);
    return bytes;
  }

  private ByteBuffer read(int record) {
    long from = (record - 1 & 0xffff_ffffL) * ALIGNMENT;
    ByteBuffer head = read(from, (int) Math.min(READ_BYTES, written + buffered - from));
    int length = HEADER + head.getInt(0) + Math.max(0, head.getInt(4));
    return length <= head.capacity() ? head : read(from, length);
  }

  private ByteBuffer read(long from, int length) {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    int stored = Math.clamp(written - from, 0, length);
    try {
      for (int done = 0; done < stored; ) {
        int count = file.orElseThrow().read(bytes.slice(done, stored - done), from + done);
        if (count < 0) {
          throw new IOException("the temporary file was cut off");
        }
        done += count;
      }
    } catch (IOException e) {
      throw Failures.of("reading rows", e);
    }
    if (stored < length) {
      bytes.put(stored, buffer, (int) (from + stored - written), length - stored);
    }
    return bytes;
  }

  private int append(byte[] key, byte[] value, int valueLength) {
    int length = HEADER + key.length + value.length;
    int padded = length + Math.floorMod(-length, ALIGNMENT);
    long from = written + buffered;
    if (from + padded > BYTES_MAX) {
      throw new WritException(LedgerError.STORAGE, "rows of more than " + BYTES_MAX + " bytes");
    }
    ByteBuffer record = ByteBuffer.allocate(padded);
    record.putInt(key.length).putInt(valueLength).put(key).put(value);
    if (buffered + padded > buffer.length) {
      write(ByteBuffer.wrap(buffer, 0, buffered));
      buffered = 0;
    }
    if (padded > buffer.length) {
      write(record.rewind());
    } else {
      record.rewind().get(buffer, buffered, padded);
      buffered += padded;
    }
    return (int) (from / ALIGNMENT) + 1;
  }

  private void write(ByteBuffer bytes) {
    try {
      if (file.isEmpty()) {
        Path path = Files.createTempFile("writ-rows", "");
        // The name is gone at once, so that nothing is left whatever becomes of the process.
        file =
            Optional.of(
                FileChannel.open(
                    path,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.DELETE_ON_CLOSE));
        Files.deleteIfExists(path);
      }
      while (bytes.hasRemaining()) {
        written += file.get().write(bytes, written);
      }
    } catch (IOException e) {
      throw Failures.of("writing rows", e);
    }
  }

  @Override
  public void close() {
    try {
      if (file.isPresent()) {
        file.get().close();
      }
    } catch (IOException e) {
      throw Failures.of("closing rows", e);
    }
  }
}
