package dev.writ.replay;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.Checkpoint;
import dev.writ.ledger.Event;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A bundle that was read: every entry is of a known place, is what its name and {@code bundle.json}
 * say by digest, and has the form that belongs there. What it claims is for {@link BundleVerifier}.
 *
 * @param trust the bytes of {@code trust.jwks}, for people; nothing is verified under it
 */
record Bundle(
    BundleManifest manifest,
    List<Event> run,
    List<Event> system,
    List<Event> consumed,
    Proofs proofs,
    Checkpoint checkpoint,
    byte[] trust,
    SortedMap<Digest, Envelope> documents,
    SortedMap<Digest, byte[]> blobs,
    SortedMap<String, ToolManifest> tools)
    implements Recording {

  @Override
  public Optional<Envelope> document(Digest id) {
    return Optional.ofNullable(documents.get(id));
  }

  private record Placed(Journal journal, Event event) {}

  @Override
  public void events(Visitor visitor) {
    TreeMap<Long, Placed> log = new TreeMap<>();
    place(log, Journal.SYSTEM, system, proofs.system());
    place(log, Journal.CONSUMED, consumed, proofs.consumed());
    place(log, Journal.RUN, run, proofs.run());
    log.forEach((index, placed) -> visitor.event(placed.journal(), index, placed.event()));
  }

  private static void place(
      TreeMap<Long, Placed> log, Journal journal, List<Event> events, List<Proofs.Proof> proofs) {
    for (int i = 0; i < events.size(); i++) {
      Placed before = log.put(proofs.get(i).index(), new Placed(journal, events.get(i)));
      if (before != null) {
        throw new WritException(
            ReplayError.EVENT_PROOF,
            "two events at log index "
                + proofs.get(i).index()
                + ", one is "
                + References.place(before.event()));
      }
    }
  }

  @Override
  public Optional<byte[]> blob(Digest digest) {
    return Optional.ofNullable(blobs.get(digest));
  }

  @Override
  public Optional<ToolManifest> tool(ToolRef tool) {
    return Optional.ofNullable(tools.get(Layout.tool(tool)));
  }

  @Override
  public Driver.PackageContent files(ToolManifest manifest) {
    return file -> {
      throw new WritException(ReplayError.TOOL_MISSING, manifest.name() + ": " + file.path());
    };
  }

  /**
   * @throws WritException {@code RPL-01x}, {@code RPL-02x}, {@code RPL-031}, {@code RPL-033},
   *     {@code LED-05x}, {@code CAN-0xx}, with the entry
   */
  static Bundle read(byte[] file) {
    TreeMap<String, byte[]> entries = new TreeMap<>(Archive.read(file));
    BundleManifest manifest = manifest(entries);
    TreeMap<Digest, Envelope> documents = new TreeMap<>();
    TreeMap<Digest, byte[]> blobs = new TreeMap<>();
    TreeMap<String, ToolManifest> tools = new TreeMap<>();
    Bundle bundle =
        new Bundle(
            manifest,
            events(entries, Layout.RUN),
            events(entries, Layout.SYSTEM),
            events(entries, Layout.CONSUMED),
            at(Layout.PROOFS, () -> Proofs.parse(take(entries, Layout.PROOFS))),
            at(Layout.CHECKPOINT, () -> Checkpoint.parse(take(entries, Layout.CHECKPOINT))),
            take(entries, Layout.TRUST),
            documents,
            blobs,
            tools);
    entries.forEach((name, bytes) -> at(name, () -> content(bundle, name, bytes)));
    return bundle;
  }

  private interface Reader<T> {
    T read();
  }

  /** Puts the entry's name in front of what a parser says. */
  private static <T> T at(String entry, Reader<T> reader) {
    try {
      return reader.read();
    } catch (WritException e) {
      throw e.found().contains(entry)
          ? e
          : new WritException(e.code(), entry + ": " + e.found(), e);
    }
  }

  private static byte[] take(TreeMap<String, byte[]> entries, String name) {
    byte[] bytes = entries.remove(name);
    if (bytes == null) {
      throw new WritException(ReplayError.ENTRY_MISSING, name);
    }
    return bytes;
  }

  private static BundleManifest manifest(TreeMap<String, byte[]> entries) {
    byte[] bytes = take(entries, Layout.MANIFEST);
    BundleManifest manifest =
        at(Layout.MANIFEST, () -> BundleManifest.read(Jcs.parseCanonical(bytes, Layout.LIMITS)));
    List<BundleManifest.Entry> found = BundleExport.listed(entries);
    List<BundleManifest.Entry> stated = manifest.entries();
    for (int i = 0; i < Math.max(found.size(), stated.size()); i++) {
      Object here = i < found.size() ? found.get(i) : "nothing";
      Object listed = i < stated.size() ? stated.get(i) : "nothing";
      if (!here.equals(listed)) {
        throw new WritException(
            ReplayError.ENTRY_LIST, "entry " + i + ": here is " + here + ", listed " + listed);
      }
    }
    return manifest;
  }

  private static List<Event> events(TreeMap<String, byte[]> entries, String name) {
    byte[] bytes = take(entries, name);
    List<Event> events = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '\n') {
        byte[] line = Arrays.copyOfRange(bytes, start, i);
        events.add(event(line, name + " line " + (events.size() + 1)));
        start = i + 1;
      }
    }
    if (start != bytes.length) {
      throw new WritException(
          ReplayError.EVENT_FORM, name + " line " + (events.size() + 1) + " has no end");
    }
    return List.copyOf(events);
  }

  private static Event event(byte[] line, String place) {
    try {
      Event event = Event.parse(line);
      if (Arrays.equals(event.toBytes(), line)) {
        return event;
      }
    } catch (WritException e) {
      throw new WritException(
          ReplayError.EVENT_FORM, place + ": " + e.code().code() + " " + e.found(), e);
    }
    throw new WritException(ReplayError.EVENT_FORM, place + " is written otherwise");
  }

  /** What is in one of the folders; returns its name. */
  private static String content(Bundle bundle, String name, byte[] bytes) {
    if (name.startsWith(Layout.DOCUMENTS)) {
      Envelope envelope = Envelope.parse(bytes);
      requireName(name, Layout.document(envelope.id()));
      bundle.documents.put(envelope.id(), envelope);
    } else if (name.startsWith(Layout.BLOBS)) {
      Digest digest = Digest.sha256(bytes);
      requireName(name, Layout.blob(digest));
      bundle.blobs.put(digest, bytes);
    } else if (name.startsWith(Layout.TOOLS)) {
      ToolManifest tool = ToolManifest.read(Jcs.parseCanonical(bytes, Limits.DEFAULT));
      requireName(name, Layout.tool(tool.ref()));
      bundle.tools.put(name, tool);
    } else {
      throw new WritException(ReplayError.ENTRY_UNUSED, name);
    }
    return name;
  }

  private static void requireName(String name, String recomputed) {
    if (!name.equals(recomputed)) {
      throw new WritException(ReplayError.ENTRY_DIGEST, name + " has the content of " + recomputed);
    }
  }
}
