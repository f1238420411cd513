package dev.writ.console.audit;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.Reader;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.gateway.v1.TemporaryFile;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.event.RunId;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Audit jobs over HTTP (spec/audit-jobs.md). */
public final class AuditSurface implements Surface {
  private static final String PATH = "/v1/audit-jobs";
  private static final int BYTES_MAX = 64 << 10;
  private static final Duration LOOK_EVERY = Duration.ofSeconds(10);

  private final Pipeline pipeline;
  private final Reader reader;
  private final RunBundle bundles;
  private final RunAuditor auditor;
  private final AuditRuns runs;
  private final SecureRandom random;
  private final AuditJobs jobs;

  /**
   * @param random for ids of jobs, which nobody guesses
   * @param failures gets what nobody foresaw
   */
  public AuditSurface(
      Pipeline pipeline,
      RunBundle bundles,
      RunAuditor auditor,
      SecureRandom random,
      Consumer<Throwable> failures) {
    this.pipeline = pipeline;
    this.reader = new Reader(pipeline.kernel());
    this.bundles = bundles;
    this.auditor = auditor;
    this.runs = new AuditRuns(pipeline.ledger(), reader);
    this.random = random;
    this.jobs = new AuditJobs(this::work, pipeline::now, failures);
  }

  @Override
  public String name() {
    return "audit";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.post(PATH, CALLER, BYTES_MAX, this::ask),
        Route.get(PATH, CALLER, this::list),
        Route.get(PATH + "/{id}", CALLER, call -> HttpAnswer.json(200, job(call).toJson())),
        Route.get(PATH + "/{id}/events", CALLER, this::follow),
        Route.get(PATH + "/{id}/result", CALLER, this::result),
        new Route(
            "DELETE", PATH + "/{id}", CALLER, new Route.Body.None(), _ -> true, this::remove));
  }

  @Override
  public void close() {
    jobs.close();
  }

  private HttpAnswer ask(HttpCall call) {
    Fields fields = Fields.of("body", Jcs.parse(call.body()));
    AuditKind kind =
        fields.oneOf("kind", List.of(AuditKind.values()), k -> k.name().toLowerCase(Locale.ROOT));
    Optional<List<String>> named =
        fields.optional("runs", key -> fields.list(key, (path, value) -> text(path, value)));
    Optional<Instant> from = fields.optional("from", fields::time);
    Optional<Instant> to = fields.optional("to", fields::time);
    fields.end();
    if (named.isPresent() == (from.isPresent() || to.isPresent())) {
      throw new WritException(GatewayError.PARAMETER, "either runs, or from and to");
    }
    Caller caller = call.caller();
    List<String> found =
        named.isPresent()
            ? runs.named(caller, kind, named.get())
            : runs.within(caller, kind, from, to);
    AuditJob job = new AuditJob(id(), caller, kind, found, pipeline.look());
    jobs.add(job);
    return HttpAnswer.json(202, job.toJson()).with("Location", PATH + "/" + job.id());
  }

  private static String text(String path, JsonValue value) {
    if (value instanceof JsonValue.Str text) {
      return text.value();
    }
    throw new WritException(GatewayError.PARAMETER, path + " is no text");
  }

  private String id() {
    byte[] bytes = new byte[16];
    random.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private AuditJob job(HttpCall call) {
    String id = call.value("id");
    return jobs.of(call.caller(), id).orElseThrow(() -> Reader.unknown(id));
  }

  private HttpAnswer list(HttpCall call) {
    return HttpAnswer.json(
        200, JsonValue.object().putList("jobs", jobs.of(call.caller()), AuditJob::toJson).build());
  }

  private HttpAnswer remove(HttpCall call) {
    jobs.remove(job(call));
    return HttpAnswer.json(200, JsonValue.object().put("removed", call.value("id")).build());
  }

  /** Sends the job's state as it changes, until it has ended. */
  private HttpAnswer follow(HttpCall call) {
    AuditJob job = job(call);
    return HttpAnswer.events(sink -> {
      long seen = -1;
      while (!sink.isClosing()) {
        long now = job.changes();
        if (now != seen) {
          sink.write(event("job", job.toJson()));
        } else {
          sink.write(":\n\n".getBytes(StandardCharsets.US_ASCII));
        }
        if (job.state().ended()) {
          return;
        }
        seen = now;
        await(job, seen);
      }
    });
  }

  private static void await(AuditJob job, long seen) throws IOException {
    try {
      job.await(seen, LOOK_EVERY);
      Thread.sleep(100); // progress comes in thousands
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static byte[] event(String name, JsonValue data) {
    return ("event: "
            + name
            + "\ndata: "
            + new String(Jcs.write(data), StandardCharsets.UTF_8)
            + "\n\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  /**
   * The findings as JSON or CSV, or the page of a report, each to be saved as a file. They tell
   * what is in the runs, so the caller has to be one who may still read these.
   */
  private HttpAnswer result(HttpCall call) {
    AuditJob job = job(call);
    job.runs().forEach(run -> reader.run(call.caller(), run));
    if (job.state() != AuditJob.State.DONE) {
      throw new WritException(AuditJobError.NOT_ENDED, "it is " + job.state().word());
    }
    String format =
        call.query().getOrDefault("format", List.of("json")).getFirst().toLowerCase(Locale.ROOT);
    reader.records().runs(call.caller(), job.runs(), ReadClass.REPORTS);
    return switch (format) {
      case "json" -> attached(HttpAnswer.json(200, AuditResults.json(job)), job, "json");
      case "csv" ->
          attached(
              HttpAnswer.of(
                  200,
                  "text/csv; charset=utf-8",
                  AuditResults.csv(job).getBytes(StandardCharsets.UTF_8)),
              job,
              "csv");
      case "html" -> page(job);
      default -> throw new WritException(GatewayError.PARAMETER, "format is json, csv or html");
    };
  }

  private static HttpAnswer page(AuditJob job) {
    TemporaryFile page =
        job.page().orElseThrow(() -> new WritException(AuditJobError.NOT_ENDED, "it has no page"));
    return attached(
        new HttpAnswer(
            200,
            List.of(Map.entry("Content-Type", "text/html; charset=utf-8")),
            new HttpAnswer.Body.Stream(page.size(), page::send)),
        job,
        "html");
  }

  /** As a file: a page of a tenant's data never runs in the console's origin. */
  private static HttpAnswer attached(HttpAnswer answer, AuditJob job, String end) {
    String name = "writ-" + job.kind().name().toLowerCase(Locale.ROOT) + "-" + job.id();
    return answer
        .with("Content-Disposition", "attachment; filename=\"" + name + "." + end + "\"")
        .with("Content-Security-Policy", "sandbox")
        .with("Cache-Control", "no-store");
  }

  private void work(AuditJob job) {
    switch (job.kind()) {
      case VERIFY, REPLAY -> job.runs().forEach(run -> one(job, run));
      case REPORT -> report(job, job.runs().getFirst());
      case COMPARE -> compare(job, job.runs().getFirst(), job.runs().getLast());
    }
  }

  /** The run's bundle, if the caller may still read it. */
  private TemporaryFile bundle(AuditJob job, String run) {
    job.progress("export", 0, 0);
    reader.run(job.caller(), run);
    return bundles.stored(pipeline.kernel(), new RunId(job.caller().tenant(), run));
  }

  private void one(AuditJob job, String run) {
    try (TemporaryFile bundle = bundle(job, run)) {
      RunAuditor.Outcome outcome =
          job.kind() == AuditKind.VERIFY
              ? auditor.verify(bundle.path(), job::progress)
              : auditor.replay(run, bundle.path(), job::progress);
      job.progress("next", 0, 0); // where it was cancelled, nothing is added any more
      job.add(new AuditJob.Result(run, outcome.holds(), outcome.said()), 1);
    }
  }

  private void report(AuditJob job, String run) {
    TemporaryFile page = bundles.empty(job.caller().tenant());
    boolean kept = false;
    try (TemporaryFile bundle = bundle(job, run);
        OutputStream out = new BufferedOutputStream(page.out())) {
      job.progress("report", 0, 0);
      auditor.report(bundle.path(), out);
      out.flush();
      job.add(
          new AuditJob.Result(run, true, JsonValue.object().put("page_bytes", page.size()).build()),
          1);
      job.keep(page);
      kept = true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      if (!kept) {
        page.close();
      }
    }
  }

  private void compare(AuditJob job, String a, String b) {
    try (TemporaryFile first = bundle(job, a);
        TemporaryFile second = bundle(job, b)) {
      job.progress("compare", 0, 0);
      RunAuditor.Outcome outcome = auditor.compare(a, first.path(), b, second.path());
      job.add(new AuditJob.Result(a, outcome.holds(), outcome.said()), 2);
    }
  }
}
