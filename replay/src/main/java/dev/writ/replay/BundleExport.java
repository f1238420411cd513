package dev.writ.replay;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.Checkpoint;
import dev.writ.ledger.Event;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.RunId;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Takes the bundle of one run out of a ledger (spec/bundle.md). The same run at the same size of
 * the log is the same bytes, wherever the ledger lies.
 */
public final class BundleExport {
  /** What is left out. */
  public record Options(boolean blobs, boolean tools) {
    public static final Options WHOLE = new Options(true, true);
  }

  /** Finds the manifest of exactly that package. */
  @FunctionalInterface
  public interface Manifests {
    Optional<ToolManifest> manifest(ToolRef tool);
  }

  private final LedgerView ledger;
  private final RunId run;
  private final Options options;
  private final TreeMap<String, byte[]> entries = new TreeMap<>();

  private BundleExport(LedgerView ledger, RunId run, Options options) {
    this.ledger = ledger;
    this.run = run;
    this.options = options;
  }

  /**
   * @param ledger also one that another process writes to
   * @return the bundle's bytes
   * @throws WritException {@code RPL-05x} where the run, its checkpoint, a manifest or content is
   *     not there, {@code RPL-012} where it is too large
   */
  public static byte[] of(LedgerView ledger, RunId run, Manifests manifests, Options options) {
    return new BundleExport(ledger, run, options).export(manifests);
  }

  private byte[] export(Manifests manifests) {
    Event head =
        ledger
            .head(run)
            .filter(_ -> !run.equals(SystemState.RUN))
            .orElseThrow(() -> new WritException(ReplayError.RUN_UNKNOWN, run.toString()));
    boolean closed = head.kind().equals(EventKind.RUN_CLOSED);
    Checkpoint checkpoint = checkpoint(head, closed);
    long size = checkpoint.size();
    List<Event> events = events(run, size);
    List<Event> system = events(SystemState.RUN, size);
    References references = References.of(events, system, ledger);
    List<Event> consumed = consumed(references);
    entries.put(Layout.RUN, lines(events));
    entries.put(Layout.SYSTEM, lines(system));
    entries.put(Layout.CONSUMED, lines(consumed));
    entries.put(
        Layout.PROOFS,
        new Proofs(proofs(events, size), proofs(system, size), proofs(consumed, size)).toBytes());
    entries.put(Layout.CHECKPOINT, checkpoint.toBytes());
    entries.put(Layout.TRUST, trust(system));
    references.documents.forEach(
        (id, _) -> entries.put(Layout.document(id), ledger.document(id).orElseThrow().toBytes()));
    if (options.blobs()) {
      references.blobs.keySet().forEach(this::blob);
    }
    if (options.tools()) {
      references.tools.forEach((entry, tool) -> entries.put(entry, manifest(manifests, tool)));
    }
    BundleManifest manifest =
        new BundleManifest(
            run,
            ledger.origin(),
            incarnation(system),
            size,
            closed,
            options.blobs(),
            options.tools(),
            listed(entries));
    entries.put(Layout.MANIFEST, Jcs.write(manifest.toJson()));
    return Archive.write(entries);
  }

  static List<BundleManifest.Entry> listed(TreeMap<String, byte[]> entries) {
    return entries.entrySet().stream()
        .map(entry ->
            new BundleManifest.Entry(
                entry.getKey(), Digest.sha256(entry.getValue()), entry.getValue().length))
        .toList();
  }

  /** A closed run's own, so that its bundle never changes; an open run's is the latest. */
  private Checkpoint checkpoint(Event head, boolean closed) {
    long index = ledger.indexOf(run, head.seq()).orElseThrow();
    Optional<Checkpoint> found =
        closed
            ? ledger
                .get(Tables.CLOSED, Tables.key(run.tenant(), run.run()))
                .filter(row -> row.length > 0)
                .map(row -> new String(row, StandardCharsets.US_ASCII))
                .flatMap(size -> ledger.checkpoint(Long.parseUnsignedLong(size, 16)))
            : ledger.latestCheckpoint();
    return found
        .filter(checkpoint -> checkpoint.size() > index)
        .orElseThrow(() ->
            new WritException(
                ReplayError.NOT_COVERED,
                run
                    + " ends at log index "
                    + index
                    + ", the checkpoint has "
                    + found.map(Checkpoint::size).map(String::valueOf).orElse("no size yet")));
  }

  private List<Event> events(RunId of, long size) {
    List<Event> events = new ArrayList<>();
    ledger.events(
        of,
        0,
        event -> {
          if (index(event) < size) {
            events.add(event);
          }
        });
    return events;
  }

  private long index(Event event) {
    return ledger.indexOf(event.runId(), event.seq()).orElseThrow();
  }

  private List<Event> consumed(References references) {
    TreeMap<Long, Event> found = new TreeMap<>();
    references.foreign.forEach((receipt, other) ->
        ledger.events(
            other,
            0,
            event -> {
              if (event.kind().equals(EventKind.RECEIPT_SIGNED) && event.body().equals(receipt)) {
                found.put(index(event), event);
              }
            }));
    return List.copyOf(found.values());
  }

  private static byte[] lines(List<Event> events) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Event event : events) {
      out.writeBytes(event.toBytes());
      out.write('\n');
    }
    return out.toByteArray();
  }

  private List<Proofs.Proof> proofs(List<Event> events, long size) {
    return events.stream()
        .map(event -> {
          long index = index(event);
          return new Proofs.Proof(index, ledger.inclusionProof(index, size));
        })
        .toList();
  }

  private byte[] trust(List<Event> system) {
    SystemState state = SystemState.NOTHING;
    for (Event event : system) {
      state = state.after(event, ledger);
    }
    return Jcs.write(state.trust().toJson());
  }

  private long incarnation(List<Event> system) {
    long incarnation = 1;
    for (Event event : system) {
      if (event.kind().equals(EventKind.LEDGER_INCARNATED)) {
        SystemChange change =
            SystemChange.read(ledger.document(event.body()).orElseThrow().document());
        incarnation = Fields.of("detail", change.detail()).count("incarnation");
      }
    }
    return incarnation;
  }

  private void blob(Digest digest) {
    if (!ledger.hasBlob(digest)) {
      throw new WritException(ReplayError.CONTENT_MISSING, "blob " + digest);
    }
    entries.put(Layout.blob(digest), ledger.blob(digest, Archive.BYTES_MAX));
  }

  private static byte[] manifest(Manifests manifests, ToolRef tool) {
    return manifests
        .manifest(tool)
        .filter(manifest -> manifest.ref().equals(tool))
        .map(manifest -> Jcs.write(manifest.toJson()))
        .orElseThrow(() ->
            new WritException(
                ReplayError.TOOL_MISSING,
                tool.name() + " " + tool.version() + " " + tool.packageDigest()));
  }
}
