package dev.writ.cli.home;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.HomeArchive;
import dev.writ.embed.home.OpenHome;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.archive.RunArchive;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Which runs of a home are to be archived, as a command says it to the server that has the home
 * open, or does it itself.
 *
 * @param to where the archive is to be begun; absent: the one that the home knows
 */
public record ArchiveOrder(List<RunId> runs, Optional<String> to) {

  /**
   * @throws dev.writ.canonicalize.WritException {@code CAN-0xx} for another form
   */
  static ArchiveOrder read(byte[] text) {
    Fields fields = Fields.of("order", Jcs.parse(text));
    ArchiveOrder order =
        new ArchiveOrder(
            fields.list("runs", ArchiveOrder::run), fields.optional("to", fields::string));
    fields.end();
    return order;
  }

  private static RunId run(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    RunId run = new RunId(fields.name("tenant"), fields.name("run"));
    fields.end();
    return run;
  }

  public byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .putList(
                "runs",
                runs,
                run -> JsonValue.object().put("tenant", run.tenant()).put("run", run.run()).build())
            .putIfPresent("to", to, JsonValue::of)
            .build());
  }

  /** Does it. */
  public Moved work(OpenHome home) {
    HomeArchive archive = new HomeArchive(home.home());
    Instant now = home.kernel().now();
    if (to.isPresent()) {
      // Before it is remembered: a home keeps the first place that it is given.
      RunArchive.requireAllowed(home.kernel().system());
      archive.begin(to.get(), now);
    }
    HomeArchive.Moved moved = archive.move(home, runs, now);
    return new Moved(
        moved.stored().stream().map(one -> new Line(one.run(), one.bundle().toString())).toList(),
        moved.kept().stream().map(one -> new Line(one.run(), one.why().getMessage())).toList(),
        moved.deleted().contents(),
        moved.deleted().bytes(),
        moved.deleted().statements());
  }

  /**
   * What came of one run.
   *
   * @param text the bundle's digest, or why it was not archived
   */
  public record Line(RunId run, String text) {
    private static Line read(String path, JsonValue value, String member) {
      Fields fields = Fields.of(path, value);
      return new Line(new RunId(fields.name("tenant"), fields.name("run")), fields.string(member));
    }

    private JsonValue toJson(String member) {
      return JsonValue.object()
          .put("tenant", run.tenant())
          .put("run", run.run())
          .put(member, text)
          .build();
    }
  }

  /** What came of it. */
  public record Moved(
      List<Line> archived, List<Line> kept, long contents, long bytes, long statements) {
    /** As a server answers. */
    public static Moved read(JsonValue.Obj answer) {
      Fields fields = Fields.of("answer", answer);
      return new Moved(
          fields.list("archived", (path, value) -> Line.read(path, value, "bundle")),
          fields.list("kept", (path, value) -> Line.read(path, value, "why")),
          fields.count("contents"),
          fields.count("bytes"),
          fields.count("statements"));
    }

    /** As {@link #read} takes it. */
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .putList("archived", archived, line -> line.toJson("bundle"))
          .putList("kept", kept, line -> line.toJson("why"))
          .put("contents", contents)
          .put("bytes", bytes)
          .put("statements", statements)
          .build();
    }
  }
}
