package dev.writ.client;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.error.ClientError;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** One reading of a run's live events: each continues the one before, none is left out. */
final class RunStream {
  private static final String DATA = "data: ";
  private static final String CLOSED = "run.closed";
  private static final int EVENT_CHARS_MAX = 1 << 20;
  private static final long PAUSE_MS = 200;

  private final Wire wire;
  private final ClientSettings settings;
  private final UnaryOperator<HttpRequest.Builder> reading;
  private final String path;
  private long next;
  private Optional<Digest> last = Optional.empty();
  private boolean over;

  /** Whether anything came on the present connection: a run may be quiet for long. */
  private boolean heard;

  RunStream(
      Wire wire, ClientSettings settings, UnaryOperator<HttpRequest.Builder> reading, String path) {
    this.wire = wire;
    this.settings = settings;
    this.reading = reading;
    this.path = path;
  }

  void follow(OptionalLong after, Predicate<RunEvent> each) {
    next = after.isPresent() ? after.getAsLong() + 1 : 0;
    long since = System.nanoTime();
    while (true) {
      Exception broke = null;
      heard = false;
      try {
        read(each);
      } catch (IOException e) {
        broke = e;
      } catch (RefusedException e) {
        if (e.status() != 429 && e.status() != 503) {
          throw e;
        }
        broke = e;
      }
      if (over) {
        return;
      }
      since = heard ? System.nanoTime() : since;
      if (System.nanoTime() - since > settings.retryFor().toNanos()) {
        throw new WritException(
            ClientError.NO_ANSWER, "the events ended, and the run is open", broke);
      }
      Wire.sleep(PAUSE_MS);
    }
  }

  private void read(Predicate<RunEvent> each) throws IOException {
    HttpResponse<InputStream> response =
        wire.open(
            request -> {
              HttpRequest.Builder head =
                  reading.apply(request).header("Accept", "text/event-stream");
              return next == 0 ? head : head.header("Last-Event-ID", Long.toString(next - 1));
            },
            path);
    try (InputStream in = response.body();
        SilenceWatch silence = new SilenceWatch(in, settings.answerWithin())) {
      requireEvents(response, in);
      BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
      for (String line = line(lines); !over && line != null; line = line(lines)) {
        heard = true;
        silence.heard();
        if (line.startsWith(DATA)) {
          RunEvent event = event(line.substring(DATA.length()));
          if (isToldAgain(event)) {
            over = true;
            return;
          }
          require(event);
          over = !each.test(event) || event.kind().equals(CLOSED);
          if (over) {
            return;
          }
        }
      }
    }
  }

  private static void requireEvents(HttpResponse<?> response, InputStream in) throws IOException {
    int status = response.statusCode();
    if (status == 200 && Wire.isOf("text/event-stream", response)) {
      return;
    }
    if (status >= 500 && !Wire.isOf("application/problem+json", response)) {
      throw new IOException("status " + status + " of something that is no Writ");
    }
    throw Wire.refusal(status, in.readNBytes(EVENT_CHARS_MAX));
  }

  /** A line within the limit; null where the stream ends, also within a line. */
  private static String line(BufferedReader in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c >= 0; c = in.read()) {
      if (c == '\n') {
        return line.toString();
      }
      if (line.length() == EVENT_CHARS_MAX) {
        throw new WritException(ClientError.ANSWER_REFUSED, "an event of more than 1 MiB");
      }
      line.append((char) c);
    }
    return null;
  }

  private RunEvent event(String data) {
    if (!(Jcs.parse(data.getBytes(StandardCharsets.UTF_8)) instanceof JsonValue.Obj document)) {
      throw new WritException(ClientError.ANSWER_REFUSED, "an event is no object");
    }
    Fields fields = Fields.of("event", document);
    return new RunEvent(
        fields.count("seq"),
        fields.name("kind"),
        fields.digest("body"),
        fields.time("at"),
        document);
  }

  /** The end of a closed run, for whoever comes again and has seen all of it. */
  private boolean isToldAgain(RunEvent event) {
    return last.isEmpty() && event.seq() == next - 1 && event.kind().equals(CLOSED);
  }

  private void require(RunEvent event) {
    long seq = event.seq();
    Fields fields = Fields.of("event", event.document());
    Optional<Digest> prev = fields.optional("prev", fields::digest);
    if (seq != next) {
      throw new WritException(ClientError.ANSWER_REFUSED, "events are missing before " + seq);
    }
    if (last.isPresent() && !last.equals(prev)) {
      throw new WritException(ClientError.ANSWER_REFUSED, "event " + seq + " continues another");
    }
    next = seq + 1;
    last = Optional.of(Jcs.digest(event.document()));
  }
}
