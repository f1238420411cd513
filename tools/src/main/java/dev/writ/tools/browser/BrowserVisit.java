package dev.writ.tools.browser;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.egress.EgressEvent;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessCall;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.StandardOutput;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** One page, opened once. */
final class BrowserVisit {
  /** The least output that a call must allow: the report of how it ended needs some. */
  private static final long OUTPUT_BYTES_MIN = 256 << 10;

  /** The largest picture or document of a page. */
  private static final long ARTIFACT_BYTES_MAX = 32L << 20;

  private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  private static final byte[] PDF = "%PDF-".getBytes(StandardCharsets.US_ASCII);

  private final ProcessHost host;
  private final ProcessCall call;
  private final VisitPlan plan;

  /**
   * @throws WritException {@code TOL-061}, {@code SBX-029}
   */
  BrowserVisit(ProcessHost host, ProcessCall call) {
    this.host = host;
    this.call = call;
    this.plan = VisitPlan.read(call);
    if (call.limits().outputBytes() < OUTPUT_BYTES_MIN) {
      throw new WritException(
          ToolsError.BROWSER_PARAMS, "output_bytes is below " + OUTPUT_BYTES_MIN);
    }
  }

  /** A failure of the tool itself, named by a reason. */
  private record Failure(String reason, String message) {}

  DriverOutcome run() {
    Ended ended = call.exec(command());
    VisitReport report = VisitReport.read(ended.stdout().bytes());
    report.browser().ifPresent(versions -> call.observe("toolchain", versions));
    DriverOutcome.Output output = output(ended, report);
    Optional<Failure> failure = failure(ended, report);
    if (failure.isPresent()) {
      return call.failed(failure.get().reason(), failure.get().message(), Optional.of(output));
    }
    List<DriverOutcome.Artifact> artifacts = new ArrayList<>();
    boolean whole = ended.reason() == EndReason.EXITED;
    if (whole && plan.results().contains("png")) {
      artifacts.add(artifact("screenshot.png", "image/png", PNG));
    }
    if (whole && plan.results().contains("pdf")) {
      artifacts.add(artifact("page.pdf", "application/pdf", PDF));
    }
    return call.end(ended, () -> output, artifacts);
  }

  private Command command() {
    call.copyInputs(VisitPlan.INPUTS);
    plan.html()
        .ifPresent(html ->
            call.sandbox()
                .workspace()
                .write(VisitPlan.PAGE, html.getBytes(StandardCharsets.UTF_8), false));
    Path files = host.sharedFiles(BrowserFiles.all());
    return call.command(List.of(BrowserDriver.NODE, "/opt/writ/drive.mjs"))
        .withExecutables(List.of(BrowserDriver.NODE, BrowserDriver.CHROMIUM))
        .withBinds(
            List.of(
                new Bind(files.resolve(BrowserFiles.PROGRAM), "/opt/writ"),
                new Bind(files.resolve(BrowserFiles.CONFIGURATION), "/etc/chromium")))
        .withEnvironment("HOME", "/tmp")
        .withEgress(plan.egress())
        .withStdin(plan.toStdin(call.invocation().inputs(), call.limits().outputBytes()))
        .withLimits(
            call.limits()
                .withCpuMilli(2_000)
                .withPids(512)
                .withFileBytes(256 << 20)
                .withTmpBytes(512 << 20));
  }

  /** Exceeded limits are no failure here: {@link ProcessCall#end} reports them. */
  private Optional<Failure> failure(Ended ended, VisitReport report) {
    if (ended.reason() != EndReason.EXITED && ended.reason() != EndReason.SIGNALLED) {
      return Optional.empty();
    }
    if (!ended.succeeded() || report.reason().isEmpty()) {
      return Optional.of(
          new Failure("browser-failed", "it did not say how it ended: " + words(ended)));
    }
    String reason = report.reason().get();
    if (denied(ended, report.navigated())) {
      return Optional.of(
          new Failure("egress-denied", "the page went to a place that it may not reach"));
    }
    return reason.equals("ok")
        ? Optional.empty()
        : Optional.of(new Failure(reason, report.message()));
  }

  /** Whether the proxy refused the last navigation, so that the answer is the proxy's own. */
  private static boolean denied(Ended ended, String navigated) {
    EgressRule place;
    try {
      place = ProcessCall.rule(navigated);
    } catch (WritException e) {
      return false; // about:blank, or nothing yet
    }
    return ended.egress().stream()
        .anyMatch(event ->
            event instanceof EgressEvent.Connection c
                && c.denied()
                && c.host().equals(place.host())
                && c.port() == place.port());
  }

  private static String words(Ended ended) {
    byte[] bytes = ended.stderr().bytes();
    return new String(bytes, 0, Math.min(bytes.length, 1_000), StandardCharsets.UTF_8);
  }

  private DriverOutcome.Output output(Ended ended, VisitReport report) {
    ObjectBuilder json = JsonValue.object().put("duration_ms", ended.usage().wallMs());
    report.page().ifPresent(page -> page.members().forEach(json::put));
    report.counts().ifPresent(counts -> counts.members().forEach(json::put));
    if (plan.results().contains("console")) {
      json.put("console", JsonValue.of(report.console()));
    }
    return new DriverOutcome.Output(call.mask(Jcs.write(json.build())), StandardOutput.MEDIA_TYPE);
  }

  private DriverOutcome.Artifact artifact(String name, String mediaType, byte[] begin) {
    byte[] bytes = call.sandbox().workspace().read("out/" + name, ARTIFACT_BYTES_MAX);
    if (bytes.length < begin.length
        || !Arrays.equals(bytes, 0, begin.length, begin, 0, begin.length)) {
      throw new WritException(SandboxError.PATH_KIND, name + " is no " + mediaType);
    }
    boolean pdf = begin == PDF;
    return new DriverOutcome.Artifact(
        name, pdf ? PinnedPdf.at(call.invocation().time(), bytes) : bytes, mediaType);
  }
}
