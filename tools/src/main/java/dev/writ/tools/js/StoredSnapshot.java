package dev.writ.tools.js;

import dev.writ.tools.wasm.MemoryImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.zip.CRC32;

/**
 * A snapshot in a file beside the jars that it is made of, so that a short command need not make
 * it, which takes 200 ms of the processor. Who can write there could change the jars as well, so
 * its checksum has to find damage only. Where it cannot be read it is made, and where it cannot be
 * written it is made each time.
 */
final class StoredSnapshot {
  private static final int HEAD_BYTES = 2 * Long.BYTES + 2 * Integer.BYTES;

  private StoredSnapshot() {}

  /** The snapshot in the file, or the one that is made, which is then in the file. */
  static QuickJs.Snapshot of(Path file, Supplier<QuickJs.Snapshot> making) {
    Optional<QuickJs.Snapshot> stored = read(file);
    if (stored.isPresent()) {
      return stored.get();
    }
    QuickJs.Snapshot made = making.get();
    write(made, file);
    return made;
  }

  private static Optional<QuickJs.Snapshot> read(Path file) {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(file);
    } catch (IOException e) {
      return Optional.empty();
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    if (bytes.length < HEAD_BYTES || in.getLong() != checksum(bytes)) {
      return Optional.empty();
    }
    long stackPointer = in.getLong();
    int programAt = in.getInt();
    int programLength = in.getInt();
    byte[] memory = new byte[in.remaining()];
    in.get(memory);
    return Optional.of(
        new QuickJs.Snapshot(MemoryImage.of(memory), stackPointer, programAt, programLength));
  }

  private static void write(QuickJs.Snapshot made, Path file) {
    byte[] memory = made.memory().toBytes();
    ByteBuffer out =
        ByteBuffer.allocate(HEAD_BYTES + memory.length)
            .putLong(0)
            .putLong(made.stackPointer())
            .putInt(made.programAt())
            .putInt(made.programLength())
            .put(memory);
    out.putLong(0, checksum(out.array()));
    Path fresh = file.resolveSibling(file.getFileName() + "." + ProcessHandle.current().pid());
    try {
      Files.write(fresh, out.array());
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      // It is there to save time, and whoever starts Writ may be none who may write beside it.
    }
  }

  /** Of all but the checksum itself. */
  private static long checksum(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes, Long.BYTES, bytes.length - Long.BYTES);
    return crc.getValue();
  }
}
