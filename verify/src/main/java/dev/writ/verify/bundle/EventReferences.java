package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The references of one event, found ahead, with the entries of documents and blobs, and passed on
 * when the event's turn comes; with the failure that ended the search, if any.
 */
record EventReferences(List<Consumer<ReferenceCoverage>> calls, Optional<WritException> refused) {
  /** For an event without references. */
  static final EventReferences NOTHING = new EventReferences(List.of(), Optional.empty());

  /**
   * @param known the entry of a document that was read already
   */
  static EventReferences by(
      Event event, DocumentSource source, Function<Digest, OptionalInt> known, Bundle bundle) {
    Calls calls = new Calls(known, bundle);
    try {
      new References(source, calls).event(event);
      return new EventReferences(calls.list, Optional.empty());
    } catch (WritException e) {
      return new EventReferences(calls.list, Optional.of(e));
    }
  }

  /**
   * @throws WritException what it throws, and after that the failure that ended the search
   */
  void tell(ReferenceCoverage presence) {
    calls.forEach(call -> call.accept(presence));
    refused.ifPresent(e -> {
      throw e;
    });
  }

  private static final class Calls implements References.Sink {
    private final List<Consumer<ReferenceCoverage>> list = new ArrayList<>();
    private final Function<Digest, OptionalInt> known;
    private final Bundle bundle;

    Calls(Function<Digest, OptionalInt> known, Bundle bundle) {
      this.known = known;
      this.bundle = bundle;
    }

    @Override
    public void document(Digest id, String place) {
      OptionalInt here = known.apply(id);
      OptionalInt entry = here.isPresent() ? here : bundle.entry(BundleEntryNames.document(id));
      list.add(presence -> presence.document(id, entry, place));
    }

    @Override
    public void blob(Digest digest, OptionalLong size, References.Use use, String place) {
      OptionalInt entry = bundle.entry(BundleEntryNames.blob(digest));
      list.add(presence -> presence.blob(digest, entry, size, use, place));
    }

    @Override
    public void notKept(Digest digest) {
      list.add(presence -> presence.notKept(digest));
    }

    @Override
    public void tool(ToolRef tool, String place) {
      list.add(presence -> presence.tool(tool, place));
    }

    @Override
    public void files(ToolRef tool, String place) {
      list.add(presence -> presence.files(tool, place));
    }

    @Override
    public void foreign(Digest receipt, RunId run, String place) {
      list.add(presence -> presence.foreign(receipt, run, place));
    }
  }
}
