package dev.writ.cli.command.tool;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.command.mcp.Upstreams;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.ApproverRole;
import dev.writ.embed.home.Home;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.ToolApproval;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.governance.Submitted;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.guardian.policy.governance.ToolGovernance;
import dev.writ.tools.author.CapabilityCheck;
import dev.writ.tools.author.LibraryCheck;
import dev.writ.tools.author.LintFinding;
import dev.writ.tools.author.ToolArchive;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.registry.ToolRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The commands of {@code writ tool} that take a tool from submission to its end ({@code
 * spec/tool-governance.md}). Each prints the next step.
 */
final class ToolGoverning {
  private ToolGoverning() {}

  static List<CliCommand> commands() {
    return List.of(
        new Submit(),
        new ToolReview(),
        new Word("approve", Approval.Verdict.APPROVE),
        new Word("reject", Approval.Verdict.REJECT),
        new Stage(),
        new Status());
  }

  static SystemState system(Session session) {
    return Homes.inForce(session);
  }

  static Submitted submitted(SystemState system, String tool, String version) {
    return system
        .governance()
        .version(tool, version)
        .orElseThrow(() -> Homes.notFound(tool + " " + version + ": nobody submitted it"));
  }

  /**
   * Where a version stands after a command, and what comes next.
   *
   * @param program how this program is called on this data directory
   */
  record Standing(Submitted version, boolean revoked, Policy policy, String program)
      implements Report {
    static Standing of(Session session, SystemState system, String tool, String version) {
      return new Standing(
          submitted(system, tool, version),
          system.isProhibited(tool, version),
          system.policyInForce(),
          Homes.name(session.terminal()));
    }

    @Override
    public JsonValue toJson() {
      var words = JsonValue.object();
      version
          .words()
          .forEach((approver, word) ->
              words.put(
                  approver,
                  JsonValue.object()
                      .put("role", word.role())
                      .put("verdict", word.verdict().name().toLowerCase(Locale.ROOT))
                      .build()));
      return JsonValue.object()
          .put("tool", version.tool().toJson())
          .put("publisher", version.publisher())
          .put("stage", stage())
          .putIfPresent("canary", version.canary(), Canary::toJson)
          .put("validation", validation())
          .put("words", words.build())
          .putList("missing", missing(), JsonValue::of)
          .put("next", next())
          .build();
    }

    String stage() {
      return revoked ? "revoked" : version.stage().text();
    }

    String validation() {
      return version
          .validation()
          .map(v -> v.passed() ? "passed" : v.findings().size() + " findings")
          .orElse("missing");
    }

    /** The approvals that policy asks for and nobody gave. */
    List<String> missing() {
      List<String> missing = new ArrayList<>();
      policy
          .governance()
          .map(ToolGovernance::approvals)
          .ifPresent(wanted ->
              wanted.forEach((role, count) -> {
                long found =
                    version.words().values().stream()
                        .filter(w -> w.role().equals(role))
                        .filter(w -> w.verdict() == Approval.Verdict.APPROVE)
                        .count();
                if (found < count) {
                  missing.add((count - found) + " as " + role);
                }
              }));
      return missing;
    }

    String next() {
      String named = version.tool().name() + " " + version.tool().version();
      if (revoked || version.stage() == RolloutStage.RETIRED) {
        return "nothing: it does not run any more";
      }
      if (version.rejected() || version.validation().filter(v -> !v.passed()).isPresent()) {
        return "mend the package and submit it again";
      }
      if (version.validation().isEmpty()) {
        return "submit it again, to have it validated";
      }
      return switch (version.stage()) {
        case DRAFT ->
            missing().isEmpty()
                ? command("stage " + named + " canary --percent 10")
                : command("approve " + named + " --as APPROVER")
                    + ", "
                    + String.join(" and ", missing());
        case CANARY ->
            version
                .canary()
                .filter(Canary::isChosenByCallers)
                .map(by ->
                    "callers choose whether they meet it, by the names of their runs; stage it"
                        + " again: "
                        + command("stage " + named + " canary" + options(by)))
                .orElse(command("stage " + named + " active"));
        case ACTIVE -> command("stage " + named + " deprecated") + ", when another takes its place";
        case DEPRECATED -> command("stage " + named + " retired");
        case RETIRED -> throw new IllegalStateException("handled above");
      };
    }

    private static String options(Canary canary) {
      return (canary.tenants().isEmpty() ? "" : " --tenants " + String.join(",", canary.tenants()))
          + " --percent "
          + canary.percent();
    }

    private String command(String rest) {
      return program + " tool " + rest;
    }

    void print(Terminal terminal) {
      terminal
          .out()
          .println(
              version.tool().name()
                  + " "
                  + version.tool().version()
                  + "  "
                  + terminal.paint(good() ? Style.GOOD : Style.WARN, shown())
                  + "  "
                  + version.tool().packageDigest());
      version
          .validation()
          .ifPresent(v ->
              v.findings()
                  .forEach(f ->
                      terminal
                          .out()
                          .println("  " + f.code() + " " + f.place() + ": " + f.found())));
      terminal.err().println("next: " + next());
    }

    private boolean good() {
      return !revoked
          && version.stage().runs()
          && version.canary().filter(Canary::isChosenByCallers).isEmpty();
    }

    String shown() {
      return stage()
          + version
              .canary()
              .filter(_ -> !revoked)
              .map(c ->
                  " "
                      + c.percent()
                      + (c.isChosenByCallers() ? " % of runs" : " %")
                      + (c.tenants().isEmpty() ? "" : " and " + String.join(", ", c.tenants())))
              .orElse("");
    }
  }

  private static void show(Session session, String tool, String version) {
    session.show(Standing.of(session, system(session), tool, version), Standing::print);
  }

  /** {@code writ tool submit}. */
  static final class Submit implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.options(
          CommandUsage.of(
                  "submit",
                  "Submit a signed package for approval: it is validated, and the findings"
                      + " are recorded.",
                  "A package without findings is copied into the registry. It runs once approvers"
                      + " approved it and an operator staged it.")
              .argument("FILE", "A package file that an enrolled publisher signed.")
              .option("--as", "KEY", "The publisher's key (default: publisher).")
              .option(
                  "--operator", "KEY", "The key that signs the validation (default: operator)."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Path file = Path.of(arguments.argument("FILE"));
      requireNoServer(session, file);
      ToolArchive archive = Workbench.archive(file);
      SystemState system = system(session);
      archive.verify(system.trust(), Homes.clock().instant());
      ToolManifest manifest = archive.project().manifest();
      ToolRef tool = manifest.ref();
      Policy policy = system.policyInForce();
      if (!policy.governs(tool.name(), tool.version())) {
        throw new WritException(
            ExecutorError.GOVERNANCE_BINDING,
            tool.name() + " " + tool.version() + " is not covered by governance.tools");
      }
      List<LintFinding> findings = findings(archive, policy);
      Home home = Homes.home(session);
      if (findings.isEmpty()) {
        ToolRegistry.open(home.tools())
            .register(manifest, archive.project().files(), archive.signature().orElseThrow());
      }
      List<Envelope> documents = new ArrayList<>();
      Optional<Submitted> before =
          system
              .governance()
              .version(tool.name(), tool.version())
              .filter(s -> s.tool().equals(tool) && s.stage() == RolloutStage.DRAFT);
      if (before.isEmpty()) {
        documents.add(
            Envelope.sign(
                ToolSubmission.TYPE,
                new ToolSubmission(tool, Homes.clock().instant()).toJson(),
                home.key(arguments.option("--as").orElse("publisher"))));
      }
      ToolValidation validation =
          new ToolValidation(
              tool,
              "writ lint",
              findings.stream()
                  .limit(ToolValidation.FINDINGS_MAX)
                  .map(f -> new ToolValidation.Finding(f.code().code(), f.place(), f.found()))
                  .toList());
      documents.add(
          SystemWords.change(home, arguments, EventKind.TOOL_VALIDATED, validation.toJson()));
      SystemWords.send(session, arguments, documents);
      show(session, tool.name(), tool.version());
      return findings.isEmpty() ? ExitCode.OK : ExitCode.REFUSED;
    }

    private static void requireNoServer(Session session, Path file) {
      if (!Files.exists(file)) {
        new Upstreams(session)
            .all().stream()
                .map(server -> server.manifest())
                .filter(manifest -> manifest.name().equals(file.toString()))
                .findFirst()
                .ifPresent(manifest -> {
                  throw new WritException(
                      ToolsError.UPSTREAM_GOVERNED,
                      manifest.name() + " " + manifest.version() + " " + manifest.packageDigest());
                });
      }
    }

    private static List<LintFinding> findings(ToolArchive archive, Policy policy) {
      List<LintFinding> findings;
      try (Workbench bench = new Workbench()) {
        findings = new ArrayList<>(bench.lint().check(archive.project()));
      }
      policy
          .governance()
          .flatMap(ToolGovernance::ceiling)
          .ifPresent(ceiling ->
              findings.addAll(CapabilityCheck.check(archive.project().source(), ceiling)));
      policy
          .governance()
          .flatMap(ToolGovernance::libraries)
          .ifPresent(approved -> findings.addAll(LibraryCheck.check(archive.project(), approved)));
      return findings;
    }
  }

  /** {@code writ tool approve} and {@code writ tool reject}. */
  static final class Word implements CliCommand {
    private final String name;
    private final Approval.Verdict verdict;

    Word(String name, Approval.Verdict verdict) {
      this.name = name;
      this.verdict = verdict;
    }

    @Override
    public CommandUsage usage() {
      return SystemWords.options(
          CommandUsage.of(
                  name,
                  verdict == Approval.Verdict.APPROVE
                      ? "Approve a submitted version, as an approver whom policy names."
                      : "Reject a submitted version for good; a corrected package is a new"
                          + " submission.")
              .argument("NAME", "The tool's name.")
              .argument("VERSION", "")
              .option(
                  "--as", "KEY", "The approver's key: one of the installation, not of a tenant.")
              .option(
                  "--role",
                  "ROLE",
                  "The approver role (default: the only one that policy gives the approver)."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String tool = arguments.argument("NAME");
      String version = arguments.argument("VERSION");
      SystemState system = system(session);
      Home home = Homes.home(session);
      SigningKey key =
          home.key(
              arguments
                  .option("--as")
                  .orElseThrow(() -> new WritException(CliError.USAGE, "name the key with --as")));
      String approver =
          system.trust().key(key.kid()).map(TrustedKey::subject).orElse("nobody enrolled");
      List<String> roles =
          system
              .policyInForce()
              .governance()
              .map(g -> g.approvers().getOrDefault(approver, List.of()))
              .orElse(List.of());
      ToolApproval approval =
          new ToolApproval(
              submitted(system, tool, version).tool(),
              approver,
              arguments.option("--role").orElseGet(() -> ApproverRole.only(roles)),
              verdict,
              Homes.clock().instant());
      SystemWords.send(
          session, arguments, List.of(Envelope.sign(ToolApproval.TYPE, approval.toJson(), key)));
      show(session, tool, version);
      return ExitCode.OK;
    }
  }

  /** {@code writ tool stage}. */
  static final class Stage implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.options(
          CommandUsage.of(
                  "stage",
                  "Put a version into a stage: canary, active, deprecated, retired, or back into"
                      + " draft.",
                  "Intents issued under another stage are refused from then on.")
              .argument("NAME", "The tool's name.")
              .argument("VERSION", "")
              .argument("STAGE", "")
              .option(
                  "--tenants", "NAMES", "With canary: tenants that get it, separated by commas.")
              .option(
                  "--percent",
                  "N",
                  "With canary: percentage of the subjects of all" + " other tenants (default: 0).")
              .option("--operator", "KEY", "The operator's key (default: operator)."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String tool = arguments.argument("NAME");
      String version = arguments.argument("VERSION");
      String word =
          Arguments.oneOf(
              "STAGE",
              arguments.argument("STAGE"),
              RolloutStage.ALL.stream().map(RolloutStage::text).toList());
      RolloutStage stage = RolloutStage.valueOf(word.toUpperCase(Locale.ROOT));
      ToolStaging staging =
          new ToolStaging(
              submitted(system(session), tool, version).tool(), stage, canary(arguments, stage));
      Envelope change =
          SystemWords.change(
              Homes.home(session), arguments, EventKind.TOOL_STAGED, staging.toJson());
      SystemWords.send(session, arguments, List.of(change));
      show(session, tool, version);
      return ExitCode.OK;
    }

    private static Optional<Canary> canary(Arguments arguments, RolloutStage stage) {
      Optional<Long> percent = arguments.integer("--percent", 0, 100);
      List<String> tenants =
          arguments
              .option("--tenants")
              .map(names -> List.of(names.split(",")).stream().sorted().distinct().toList())
              .orElse(List.of());
      boolean said = percent.isPresent() || !tenants.isEmpty();
      if (stage == RolloutStage.CANARY != said) {
        throw new WritException(
            CliError.USAGE, "--tenants and --percent are for the stage canary only");
      }
      return said
          ? Optional.of(new Canary(tenants, percent.orElse(0L).intValue(), true))
          : Optional.empty();
    }
  }

  /** {@code writ tool status}. */
  static final class Status implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "status", "Show the stage and the next step of each submitted" + " version.")
          .optionalArgument("NAME", "A tool's name.")
          .list();
    }

    record All(List<Standing> versions, TreeMap<String, Boolean> runtimes) implements Report {
      @Override
      public JsonValue toJson() {
        var words = JsonValue.object();
        runtimes.forEach((runtime, approved) -> words.put(runtime, approved));
        return JsonValue.object()
            .putList("versions", versions, Standing::toJson)
            .put("runtimes", words.build())
            .build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      SystemState system = system(session);
      Optional<String> name = arguments.optionalArgument("NAME");
      List<Standing> versions =
          system.governance().versions().values().stream()
              .map(Submitted::tool)
              .filter(tool -> name.filter(n -> !n.equals(tool.name())).isEmpty())
              .map(tool -> Standing.of(session, system, tool.name(), tool.version()))
              .toList();
      TreeMap<String, Boolean> runtimes = new TreeMap<>();
      system.governance().runtimes().forEach((r, word) -> runtimes.put(r, word.approved()));
      session.show(new All(versions, runtimes), Status::print);
      return ExitCode.OK;
    }

    private static void print(All all, Terminal terminal) {
      Table table =
          new Table()
              .column("tool", Table.Fit.KEEP)
              .column("version", Table.Fit.KEEP)
              .column("stage", Table.Fit.KEEP)
              .column("validation", Table.Fit.KEEP)
              .column("next", Table.Fit.CUT);
      for (Standing standing : all.versions()) {
        table.row(
            Table.cell(standing.version().tool().name()),
            Table.cell(standing.version().tool().version()),
            Table.cell(standing.shown(), standing.good() ? Style.GOOD : Style.WARN),
            Table.cell(standing.validation()),
            Table.cell(standing.next(), Style.DIM));
      }
      terminal.print(table);
      if (terminal.csv()) {
        return;
      }
      all.runtimes()
          .forEach((runtime, approved) ->
              terminal
                  .out()
                  .println("runtime " + runtime + ": " + (approved ? "approved" : "withdrawn")));
    }
  }
}
