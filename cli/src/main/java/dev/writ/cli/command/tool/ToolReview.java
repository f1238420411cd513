package dev.writ.cli.command.tool;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.executor.SystemState;
import dev.writ.executor.governance.Submitted;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.VersionRule;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.tools.author.ResourceClass;
import dev.writ.tools.author.SourceForm;
import dev.writ.tools.registry.RegisteredTool;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.tools.review.PackageDifference;
import dev.writ.tools.review.ReviewedPackage;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * {@code writ tool review}: what an approver looks at before a verdict: what the tool does and may
 * reach, the findings of validation, its files, and how it differs from the version that runs.
 */
final class ToolReview implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "review", "Show what an approver needs to know about a submitted" + " version.")
        .argument("NAME", "The tool's name.")
        .optionalArgument("VERSION", "(default: the greatest draft, else the greatest version)");
  }

  /**
   * @param reviewed absent if the package is not in the registry; a package with findings never is
   * @param active the active version, to compare with
   */
  record Review(
      ToolGoverning.Standing standing,
      Optional<ReviewedPackage> reviewed,
      Optional<ReviewedPackage> active)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("standing", standing.toJson())
          .putIfPresent("manifest", reviewed, r -> r.manifest().toJson())
          .putIfPresent(
              "requests",
              reviewed.map(ReviewedPackage::requests).filter(r -> !r.isEmpty()),
              Review::lines)
          .putIfPresent("compared_with", active, r -> r.manifest().ref().toJson())
          .putList("differences", differences(), JsonValue::of)
          .build();
    }

    private static JsonValue lines(SortedMap<String, String> requests) {
      var lines = JsonValue.object();
      requests.forEach(lines::put);
      return lines.build();
    }

    List<String> differences() {
      if (reviewed.isEmpty() || active.isEmpty()) {
        return List.of();
      }
      return PackageDifference.between(active.get(), reviewed.get()).stream()
          .map(PackageDifference::line)
          .toList();
    }

    void print(Terminal terminal) {
      var out = terminal.out();
      Submitted version = standing.version();
      out.println(
          terminal.paint(Style.BOLD, version.tool().name() + " " + version.tool().version())
              + ", "
              + standing.shown()
              + ", published by "
              + version.publisher());
      out.println("  package     " + version.tool().packageDigest());
      out.println("  validation  " + standing.validation());
      version
          .validation()
          .ifPresent(v ->
              v.findings()
                  .forEach(
                      f -> out.println("    " + f.code() + " " + f.place() + ": " + f.found())));
      version
          .words()
          .forEach((approver, word) ->
              out.println("  " + word.verdict() + " by " + approver + ", " + word.role()));
      reviewed.ifPresentOrElse(
          r -> ToolReview.print(r.manifest(), terminal),
          () -> out.println("  its files are not in the registry: they are once nothing is found"));
      reviewed.ifPresent(r ->
          r.requests().forEach((name, line) -> out.println("  request     " + name + " " + line)));
      active.ifPresent(
          r -> out.println("  beside version " + r.manifest().version() + ", which is active:"));
      differences().forEach(line -> out.println("    " + line));
      if (active.isPresent() && differences().isEmpty() && reviewed.isPresent()) {
        out.println("    the same but for its version");
      }
      terminal.err().println("next: " + standing.next());
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String name = arguments.argument("NAME");
    SystemState system = ToolGoverning.system(session);
    Submitted version =
        arguments
            .optionalArgument("VERSION")
            .map(v -> ToolGoverning.submitted(system, name, v))
            .orElseGet(() -> latest(system, name));
    ToolRegistry registry = ToolRegistry.open(Homes.home(session).tools());
    Optional<ReviewedPackage> active =
        system.policyInForce().tools().stream()
            .filter(t -> t.ref().name().equals(name))
            .filter(t -> t.stage().equals(RolloutStage.ACTIVE.text()))
            .filter(t -> !t.ref().equals(version.tool()))
            .max(Comparator.comparing((ApprovedTool t) -> t.ref().version(), VersionRule.ORDER))
            .flatMap(t -> reviewed(registry, t.ref().name(), t.ref().version()));
    Optional<ReviewedPackage> submitted =
        reviewed(registry, name, version.tool().version())
            .filter(r -> r.manifest().ref().equals(version.tool()));
    session.show(
        new Review(
            ToolGoverning.Standing.of(session, system, name, version.tool().version()),
            submitted,
            active),
        Review::print);
    return ExitCode.OK;
  }

  private static Submitted latest(SystemState system, String name) {
    Comparator<Submitted> byVersion =
        Comparator.comparing(s -> s.tool().version(), VersionRule.ORDER);
    Comparator<Submitted> draftsLast = Comparator.comparing(s -> s.stage() == RolloutStage.DRAFT);
    return system.governance().versions().values().stream()
        .filter(s -> s.tool().name().equals(name))
        .max(draftsLast.thenComparing(byVersion))
        .orElseThrow(() -> Homes.notFound(name + ": nobody submitted it"));
  }

  private static Optional<ReviewedPackage> reviewed(
      ToolRegistry registry, String name, String version) {
    Optional<RegisteredTool> found = registered(registry, name, version);
    return found.map(tool -> ReviewedPackage.of(tool.manifest(), tool.content()));
  }

  private static Optional<RegisteredTool> registered(
      ToolRegistry registry, String name, String version) {
    try {
      return Optional.of(registry.resolve(name, version));
    } catch (WritException notThere) {
      return Optional.empty();
    }
  }

  private static void print(ToolManifest m, Terminal terminal) {
    var out = terminal.out();
    ToolManifest.Capabilities can = m.capabilities();
    out.println("  language    " + m.driver() + ", " + m.determinism().text());
    out.println(
        "  resources   "
            + ResourceClass.ALL.stream()
                .filter(c -> c.ceiling().equals(m.resourcesMax()))
                .map(ResourceClass::text)
                .findFirst()
                .orElse("cpu_ms " + m.resourcesMax().cpuMs()));
    out.println("  workspace   " + (can.workspace() ? "the files of the run" : "none"));
    out.println(
        "  network     " + (can.hosts().isEmpty() ? "none" : String.join(", ", can.hosts())));
    if (!can.ownSecrets().isEmpty()) {
      out.println("  secrets     " + String.join(", ", can.ownSecrets()));
    }
    for (ToolManifest.Operation operation : m.operations()) {
      out.println("  operation   " + operation.name() + " " + text(operation.input()));
    }
    m.files()
        .forEach(f ->
            out.println(
                "  file        "
                    + f.digest()
                    + " "
                    + f.size()
                    + " "
                    + f.path()
                    + (SourceForm.isCompiled(f.path()) ? "  (compiled: no parser read it)" : "")));
  }

  private static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
