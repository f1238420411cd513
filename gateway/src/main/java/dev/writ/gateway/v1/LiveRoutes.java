package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.v1.LiveEffects.Step;
import dev.writ.gateway.view.EffectPage.Shown;
import dev.writ.gateway.view.EffectQuery;
import dev.writ.gateway.view.EffectView;
import dev.writ.gateway.view.Effects;
import dev.writ.gateway.view.Sight;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Effects as they happen, as server-sent events (spec/gateway.md, Effects). */
final class LiveRoutes {
  /** Where and how an event ends an id; the first part may be left out. */
  private static final String ID = "(?:[0-9]{1,15}\\.)?[0-9]{1,15}";

  /**
   * Then the reader has to come again, with a credential that is looked at anew; browsers do that
   * by themselves and lose nothing.
   */
  private static final Duration LASTS = Duration.ofMinutes(15);

  /** After so many looks without news the reader gets a sign of life, about every ten seconds. */
  private static final int QUIET_MAX = 20;

  /** Sent at a time. */
  private static final int PIECE_BYTES = 32 << 10;

  private final Reader reader;
  private final Effects effects;
  private final LiveEffects live;
  private final InstantSource passed;

  LiveRoutes(Reader reader, Effects effects, LiveEffects live) {
    this.reader = reader;
    this.effects = effects;
    this.live = live;
    this.passed = reader.kernel().passed();
  }

  List<Route> routes() {
    return List.of(Route.get("/v1/effects/live", CALLER, this::watch));
  }

  private HttpAnswer watch(HttpCall call) {
    EffectQuery query = EffectQueries.filters(call);
    OptionalLong seen = lastSeen(call);
    Sight sight = new CallerSight(reader, call.caller());
    return HttpAnswer.events(sink -> {
      try (LiveEffects.Reading reading = live.open()) {
        new Watcher(query, sight, sink).follow(reading, seen);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    });
  }

  /** The place in the log up to which the reader has seen everything, if it comes again. */
  private static OptionalLong lastSeen(HttpCall call) {
    String last = call.headers().one("last-event-id").orElse("");
    if (last.isEmpty()) {
      return OptionalLong.empty();
    }
    if (!last.matches(ID)) {
      throw new WritException(GatewayError.PARAMETER, "Last-Event-ID is none of this stream");
    }
    return OptionalLong.of(Long.parseLong(last.substring(last.indexOf('.') + 1)));
  }

  /** One reader's stream. */
  private final class Watcher {
    private final EffectQuery query;
    private final Sight sight;
    private final HttpAnswer.Sink sink;
    private final ByteArrayOutputStream unsent = new ByteArrayOutputStream();
    private long told;

    Watcher(EffectQuery query, Sight sight, HttpAnswer.Sink sink) {
      this.query = query;
      this.sight = sight;
      this.sink = sink;
    }

    void follow(LiveEffects.Reading reading, OptionalLong seen)
        throws IOException, InterruptedException {
      if (seen.isPresent() && !live.reaches(seen.getAsLong())) {
        elsewhere(reading.from());
      } else {
        told = seen.isPresent() ? Math.min(seen.getAsLong() + 1, reading.from()) : reading.from();
        catchUp(reading.from());
      }
      told = reading.from();
      sign();
      Instant over = passed.instant().plus(LASTS);
      int quiet = 0;
      while (!sink.isClosing() && passed.instant().isBefore(over)) {
        LiveEffects.Taken taken = reading.take();
        for (Step step : taken.steps()) {
          tell(step);
        }
        told = taken.leaf();
        quiet = unsent.size() == 0 ? quiet + 1 : 0;
        if (quiet == QUIET_MAX) {
          sign();
          quiet = 0;
        }
        send(0);
      }
    }

    /** What happened since the reader was here last, where that is not too much. */
    private void catchUp(long to) throws IOException {
      for (Step step : to > told ? live.steps(told, to) : List.<Step>of()) {
        tell(step);
      }
    }

    /**
     * The reader was told of a place that this log does not have: it was restored, or the reader
     * saw another. So nothing that it shows is known to be of this one.
     */
    private void elsewhere(long to) throws IOException {
      told = 0;
      if (to > 0) {
        skipped(to);
        send(0);
      }
    }

    /** Shows that the stream stands, and from where to take it up. */
    private void sign() throws IOException {
      text(":\n" + (told > 0 ? "id: 0." + (told - 1) + "\n" : "") + "\n");
      send(0);
    }

    private void tell(Step step) throws IOException {
      if (step.row().isEmpty()) {
        skipped(step.leaf());
      } else {
        changed(step.row().get(), step.leaf());
        told = step.leaf() + 1;
      }
      send(PIECE_BYTES);
    }

    private void skipped(long to) {
      event(
          "skipped",
          "0." + (to - 1),
          JsonValue.object()
              .put("count", to - told)
              .put("from_index", told)
              .put("to_index", to)
              .build());
      told = to;
    }

    private void changed(EffectView row, long leaf) {
      String id = row.index() + "." + leaf;
      Optional<Shown> shown = Effects.shown(row, sight);
      if (shown.isPresent() && matches(shown.get())) {
        event("effect", id, shown.get().toJson());
      } else if (isGone(row, shown.isPresent())) {
        event(
            "gone",
            id,
            JsonValue.object().put("request_id", row.request()).put("index", row.index()).build());
      }
    }

    private boolean matches(Shown shown) {
      EffectView row = shown.row();
      return query.matches(row, shown.contents(), () -> effects.params(row.request()));
    }

    /**
     * Whether the reader may have seen it before, and would keep it for what it is no more: a
     * filter held then, or it waited for the reader's approval.
     */
    private boolean isGone(EffectView row, boolean seen) {
      return seen
          ? query.mayHaveMatched(row)
          : row.waitedMs().isPresent()
              && sight.approves()
              && sight.tenant().filter(row.scope().tenant()::equals).isPresent();
    }

    private void event(String kind, String id, JsonValue.Obj data) {
      text("id: " + id + "\nevent: " + kind + "\ndata: ");
      unsent.writeBytes(Jcs.write(data)); // on one line: JSON writes line breaks as \n
      text("\n\n");
    }

    private void text(String text) {
      unsent.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Sends what there is, if it is more than that. */
    private void send(int most) throws IOException {
      if (unsent.size() > most) {
        byte[] bytes = unsent.toByteArray();
        unsent.reset();
        sink.write(bytes);
      }
    }
  }
}
