package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.Event;
import dev.writ.ledger.RunId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The references of one event, found ahead and passed on when the event's turn comes; with the
 * failure that ended the search, if any.
 */
record Referred(List<Consumer<References.Sink>> calls, Optional<WritException> refused) {
  /** For an event without references. */
  static final Referred NOTHING = new Referred(List.of(), Optional.empty());

  static Referred by(Event event, DocumentSource source) {
    Calls calls = new Calls();
    try {
      new References(source, calls).event(event);
      return new Referred(calls.list, Optional.empty());
    } catch (WritException e) {
      return new Referred(calls.list, Optional.of(e));
    }
  }

  /**
   * @throws WritException what the sink throws, and after that the failure that ended the search
   */
  void tell(References.Sink sink) {
    calls.forEach(call -> call.accept(sink));
    refused.ifPresent(e -> {
      throw e;
    });
  }

  private static final class Calls implements References.Sink {
    private final List<Consumer<References.Sink>> list = new ArrayList<>();

    @Override
    public void document(Digest id, String place) {
      list.add(sink -> sink.document(id, place));
    }

    @Override
    public void blob(Digest digest, OptionalLong size, References.Use use, String place) {
      list.add(sink -> sink.blob(digest, size, use, place));
    }

    @Override
    public void notKept(Digest digest) {
      list.add(sink -> sink.notKept(digest));
    }

    @Override
    public void tool(ToolRef tool, String place) {
      list.add(sink -> sink.tool(tool, place));
    }

    @Override
    public void files(ToolRef tool, String place) {
      list.add(sink -> sink.files(tool, place));
    }

    @Override
    public void foreign(Digest receipt, RunId run, String place) {
      list.add(sink -> sink.foreign(receipt, run, place));
    }
  }
}
