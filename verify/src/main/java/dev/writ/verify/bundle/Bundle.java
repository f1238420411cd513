package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedNote;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A bundle whose archive has the one valid form and only known entries. Content is read on demand
 * and compared with its digest. {@link BundleVerifier} verifies everything else. Thread safe.
 */
public final class Bundle implements RecordedRun, AutoCloseable {
  /** The largest blob that is returned in one piece. */
  private static final int BLOB_MAX = 1 << 30;

  /** Manifests that are kept: a replay asks for the same few with every effect. */
  private static final int MANIFESTS_MAX = 16;

  private final Archive archive;
  private final BundleManifest manifest;
  private final Checkpoint checkpoint;
  private final Inclusion inclusion;
  private final DocumentCache documents = new DocumentCache();
  private final LinkedHashMap<ToolRef, Optional<ToolManifest>> tools = new LinkedHashMap<>();

  /** Read when a key is first asked for; two threads may both. */
  private volatile Trust stated;

  private Bundle(Archive archive) {
    this.archive = archive;
    this.manifest =
        at(
            BundleEntryNames.MANIFEST,
            () ->
                BundleManifest.read(
                    Jcs.parseCanonical(
                        single(BundleEntryNames.MANIFEST), BundleEntryNames.LIMITS)));
    this.checkpoint =
        at(
            BundleEntryNames.CHECKPOINT,
            () ->
                Checkpoint.parse(
                    archive.read(required(BundleEntryNames.CHECKPOINT), SignedNote.BYTES_MAX)));
    int entry = required(BundleEntryNames.INCLUSION);
    this.inclusion = Inclusion.open(from -> archive.stream(entry, from));
  }

  /**
   * Opens a file; it must stay as it is until this is closed.
   *
   * @throws WritException {@code RPL-01x}, {@code RPL-02x}, {@code RPL-033}, {@code LED-05x},
   *     {@code CAN-0xx}, with the entry
   */
  public static Bundle open(Path file) {
    return of(PositionedSource.open(file));
  }

  /**
   * The same of a file's bytes.
   *
   * @throws WritException as {@link #open}
   */
  public static Bundle of(byte[] file) {
    return of(PositionedSource.of(file));
  }

  private static Bundle of(PositionedSource source) {
    try {
      Names names = new Names();
      Bundle bundle = new Bundle(Archive.open(source, names::key));
      names.unknown.ifPresent(name -> {
        throw new WritException(BundleError.ENTRY_UNUSED, name);
      });
      return bundle;
    } catch (RuntimeException e) {
      source.close();
      throw e;
    }
  }

  /** Keeps the first unknown name; it is reported after the version of the format is checked. */
  private static final class Names {
    private Optional<String> unknown = Optional.empty();

    int key(String name) {
      if (unknown.isEmpty() && !BundleEntryNames.isKnown(name)) {
        unknown = Optional.of(name);
      }
      return BundleEntryNames.key(name);
    }
  }

  private interface Reader<T> {
    T read();
  }

  /** Puts the entry's name in front of a parser's message. */
  private static <T> T at(String entry, Reader<T> reader) {
    try {
      return reader.read();
    } catch (WritException e) {
      throw e.found().contains(entry)
          ? e
          : new WritException(e.code(), entry + ": " + e.found(), e);
    }
  }

  Archive archive() {
    return archive;
  }

  OptionalInt entry(String name) {
    return archive.find(name, BundleEntryNames.key(name));
  }

  /**
   * @throws WritException {@code RPL-023}
   */
  int required(String name) {
    return entry(name).orElseThrow(() -> new WritException(BundleError.ENTRY_MISSING, name));
  }

  private byte[] single(String name) {
    return archive.read(required(name), BundleEntryNames.LIMITS.bytesMax());
  }

  @Override
  public BundleManifest manifest() {
    return manifest;
  }

  /** The checkpoint to which the proofs lead; its signature is not verified here. */
  public Checkpoint checkpoint() {
    return checkpoint;
  }

  /** How many entries the archive has. */
  public int entries() {
    return archive.entries();
  }

  /** The name of an entry, from 0 on, in the order of their names. */
  public String entryName(int entry) {
    return archive.name(entry);
  }

  /** The bytes of an entry's content. */
  public long entrySize(int entry) {
    return archive.size(entry);
  }

  Inclusion inclusion() {
    return inclusion;
  }

  /** The bytes of {@code trust.jwks}, for people: nothing is believed because it says so. */
  public byte[] trust() {
    return archive.read(required(BundleEntryNames.TRUST), BundleEntryNames.CONTENT_MAX);
  }

  /**
   * A key by its id as {@code trust.jwks} states it, for verifying ahead of a walk. It can be no
   * other than the one meant, since an id is a key's thumbprint; whether it may sign is for the
   * walk to say, and one that is not stated only verifies less ahead.
   */
  Optional<VerifyingKey> stated(String kid) {
    Trust known = stated;
    if (known == null) {
      known = statedTrust();
      stated = known;
    }
    return known.key(kid).map(TrustedKey::key);
  }

  private Trust statedTrust() {
    try {
      return Trust.parse(trust());
    } catch (WritException e) {
      return Trust.of(List.of());
    }
  }

  /** The consistency proof that was requested at the export. */
  Optional<Consistency> consistency() {
    OptionalInt entry = entry(BundleEntryNames.CONSISTENCY);
    return entry.isEmpty()
        ? Optional.empty()
        : Optional.of(
            at(
                BundleEntryNames.CONSISTENCY,
                () ->
                    Consistency.read(
                        Jcs.parseCanonical(
                            single(BundleEntryNames.CONSISTENCY), BundleEntryNames.LIMITS))));
  }

  JournalLines lines(Journal journal) {
    String name = BundleEntryNames.journal(journal);
    return new JournalLines(name, archive.stream(required(name), 0));
  }

  @Override
  public void events(Visitor visitor) {
    JournalMerge log = new JournalMerge(this);
    while (log.index() != JournalMerge.END) {
      Journal journal = log.journal();
      long index = log.index();
      JournalLines.Place place = log.place();
      visitor.event(journal, index, JournalLines.event(log.take(), place));
    }
  }

  /**
   * The same recording for who takes the events in their order: their documents are read, parsed
   * and verified ahead on all cores. For a verified bundle; who uses it calls from one thread.
   */
  public RecordedRun ahead() {
    return new RecordedRunPrefetch(this);
  }

  /** A document with its entry and the size of that. */
  record Sized(Envelope envelope, int entry, int bytes) {}

  @Override
  public Optional<Envelope> document(Digest id) {
    return documents.get(id, this::read);
  }

  /** Reads a document, past the cache. */
  Optional<Sized> read(Digest id) {
    String name = BundleEntryNames.document(id);
    return archive
        .read(name, BundleEntryNames.key(name), Limits.DEFAULT.bytesMax())
        .map(found -> {
          Envelope envelope = at(name, () -> Envelope.parse(found.content()));
          requireDigest(name, envelope.id(), id);
          return new Sized(envelope, found.entry(), found.content().length);
        });
  }

  private static void requireDigest(String name, Digest found, Digest wanted) {
    if (!found.equals(wanted)) {
      throw new WritException(
          BundleError.ENTRY_DIGEST, name + ": recorded " + wanted + ", recomputed " + found);
    }
  }

  @Override
  public Optional<byte[]> blob(Digest digest) {
    String name = BundleEntryNames.blob(digest);
    return archive
        .read(name, BundleEntryNames.key(name), BLOB_MAX)
        .map(found -> {
          requireDigest(name, Digest.sha256(found.content()), digest);
          return found.content();
        });
  }

  /**
   * The same as a stream, of any size: it is read once and compared with its digest before.
   *
   * @throws WritException {@code RPL-022}
   */
  public Optional<InputStream> openBlob(Digest digest) {
    String name = BundleEntryNames.blob(digest);
    OptionalInt entry = entry(name);
    if (entry.isEmpty()) {
      return Optional.empty();
    }
    MessageDigest hash = Digest.newSha256();
    try (InputStream in = archive.stream(entry.getAsInt(), 0)) {
      byte[] piece = new byte[1 << 16];
      for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
        hash.update(piece, 0, n);
      }
    } catch (IOException e) {
      throw PositionedSource.failed(e);
    }
    requireDigest(name, Digest.ofBytes(hash.digest()), digest);
    return Optional.of(archive.stream(entry.getAsInt(), 0));
  }

  @Override
  public Optional<ToolManifest> tool(ToolRef tool) {
    synchronized (tools) {
      if (tools.size() > MANIFESTS_MAX) {
        tools.clear();
      }
      // Not computeIfAbsent: a manifest that is refused is refused again.
      Optional<ToolManifest> known = tools.get(tool);
      if (known == null) {
        known = readTool(tool);
        tools.put(tool, known);
      }
      return known;
    }
  }

  private Optional<ToolManifest> readTool(ToolRef tool) {
    String name = BundleEntryNames.tool(tool);
    OptionalInt entry = entry(name);
    return entry.isEmpty()
        ? Optional.empty()
        : Optional.of(at(name, () -> manifest(name, entry.getAsInt())))
            .filter(m -> m.ref().equals(tool));
  }

  private ToolManifest manifest(String name, int entry) {
    byte[] bytes = archive.read(entry, Limits.DEFAULT.bytesMax());
    Digest found = Digest.sha256(bytes);
    if (!name.endsWith("/" + found.hex() + "/manifest.json")) {
      throw new WritException(BundleError.ENTRY_DIGEST, name + " has the digest " + found);
    }
    ToolManifest tool = ToolManifest.read(Jcs.parseCanonical(bytes, Limits.DEFAULT));
    if (!BundleEntryNames.tool(tool.ref()).equals(name)) {
      throw new WritException(
          BundleError.ENTRY_DIGEST,
          name + " has the content of " + BundleEntryNames.tool(tool.ref()));
    }
    return tool;
  }

  /** The first package of that name and version. */
  Optional<ToolManifest> tool(String name, String version) {
    String folder = BundleEntryNames.TOOLS + name + "-" + version + "/";
    for (int entry = archive.ceiling(folder); entry < archive.entries(); entry++) {
      String found = archive.name(entry);
      if (!found.startsWith(folder)) {
        break;
      }
      if (BundleEntryNames.isManifest(found)) {
        ToolManifest tool = manifest(found, entry);
        if (tool.name().equals(name) && tool.version().equals(version)) {
          return Optional.of(tool);
        }
      }
    }
    return Optional.empty();
  }

  @Override
  public Driver.PackageContent files(ToolManifest tool) {
    return file -> {
      String name = BundleEntryNames.file(tool.ref(), file);
      int entry = entry(name).orElseThrow(() -> new WritException(BundleError.TOOL_MISSING, name));
      byte[] bytes = archive.read(entry, BundleEntryNames.CONTENT_MAX);
      requireDigest(name, Digest.sha256(bytes), file.digest());
      return bytes;
    };
  }

  @Override
  public void close() {
    archive.close();
  }
}
