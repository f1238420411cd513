package dev.writ.verify.bundle;

import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** A bundle's entries in memory, to be changed and packed again. */
final class Packed {
  private Packed() {}

  static byte[] write(SortedMap<String, byte[]> entries) {
    PositionedTarget.Memory memory = new PositionedTarget.Memory();
    ArchiveWriter out = new ArchiveWriter(memory);
    entries.forEach(out::entry);
    out.end();
    return memory.toBytes();
  }

  static TreeMap<String, byte[]> read(byte[] file) {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    try (Archive archive = Archive.open(PositionedSource.of(file), BundleEntryNames::key)) {
      for (int i = 0; i < archive.entries(); i++) {
        archive.verify(i, Optional.empty(), archive.window());
        entries.put(archive.name(i), archive.read(i, Integer.MAX_VALUE));
      }
    }
    return entries;
  }
}
