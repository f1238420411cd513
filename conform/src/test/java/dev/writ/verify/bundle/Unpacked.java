package dev.writ.verify.bundle;

import dev.writ.canonicalize.trust.Trust;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** A bundle's entries, for a forger to change and to pack again. */
public final class Unpacked {
  private Unpacked() {}

  public static TreeMap<String, byte[]> entries(byte[] file) {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    try (Archive archive = Archive.open(PositionedSource.of(file), BundleEntryNames::key)) {
      for (int i = 0; i < archive.entries(); i++) {
        archive.verify(i, Optional.empty(), archive.window());
        entries.put(archive.name(i), archive.read(i, Integer.MAX_VALUE));
      }
    }
    return entries;
  }

  /** A bundle of what does not verify, as a forger would make it. */
  public static byte[] forged(
      LedgerView ledger, RunId run, BundleExport.Packages packages, Trust stated) {
    return BundleExport.forged(ledger, run, packages, stated);
  }

  public static byte[] pack(SortedMap<String, byte[]> entries) {
    PositionedTarget.Memory memory = new PositionedTarget.Memory();
    ArchiveWriter out = new ArchiveWriter(memory);
    entries.forEach(out::entry);
    out.end();
    return memory.toBytes();
  }
}
