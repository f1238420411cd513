package dev.writ.cli.command.serve;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.run.AnswerReport;
import dev.writ.cli.command.run.CloseCommand;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Asking;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.tools.process.MediaTypes;
import dev.writ.tools.registry.BuiltinTools;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code writ demo}: the main use of Writ, with everything real, in a new data directory. */
public final class DemoCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "demo",
        "Make a data directory and play an agent that requests a handful of effects:"
            + " allowed, denied, escalated and approved, repeated, failing.",
        "Everything is real and stays for you to look at.");
  }

  private static final Home.Names NAMES = new Home.Names("acme", "researcher", "reviewer");
  private static final String RUN = "demo";
  private static final String STAFF =
      """
      name,team,city,salary
      Ada,engines,London,120
      Grace,compilers,New York,130
      Edsger,algorithms,Nuenen,110
      Barbara,compilers,Boston,140
      """;

  /** One action of the agent or the approver, and its result. */
  record Step(String asked, Answer answer, boolean approval) {
    JsonValue toJson() {
      return JsonValue.object()
          .put("asked", asked)
          .put("answer", new AnswerReport(answer, Optional.empty(), false).toJson())
          .build();
    }
  }

  record Played(
      Path home, List<Step> steps, RunState run, Event head, Checkpoint checkpoint, String key)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("home", home.toString())
          .putList("steps", steps, Step::toJson)
          .put("receipts", run.receipts())
          .put("last_receipt", run.lastReceipt())
          .put("head", head.id())
          .put("checkpoint", new CloseCommand.Signed(checkpoint).text())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Played played;
    try (Progress progress = new Progress(session.terminal())) {
      progress.step("making keys, policy and ledger");
      InitCommand.make(
          session,
          NAMES,
          StarterPolicy.of(Homes.place(session), NAMES, BuiltinTools.manifests()),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          1);
      progress.step("starting the kernel");
      played = Homes.work(session, home -> new Play(home, progress).play());
    }
    session.show(played, DemoCommand::print);
    return ExitCode.OK;
  }

  /** The agent at work. */
  private static final class Play {
    private final OpenHome home;
    private final Kernel kernel;
    private final Asking asking;
    private final SigningKey agent;
    private final Progress progress;
    private final List<Step> steps = new ArrayList<>();

    Play(OpenHome home, Progress progress) {
      this.home = home;
      this.kernel = home.kernel();
      this.asking = new Asking(kernel, new SecureRandom());
      this.agent = home.home().key(NAMES.agent());
      this.progress = progress;
    }

    Played play() {
      Input staff = put("staff.csv", STAFF);
      Input text = put("text", STAFF);
      Envelope sum =
          ask(
              "js: a sum of squares",
              effect("js", source("[...Array(1000).keys()].reduce((a, x) => a + x * x, 0)")));
      ask("js: a random number, from the writ's seed", effect("js", source("Math.random()")));
      ask(
          "sql: how many write compilers",
          effect(
              "sql", sql("select count(*) as people from staff where team = 'compilers'"), staff));
      ask("word-count: over the same file", effect("word-count", none(), text));
      submit("the first request again", sum);
      ask("word-count: without the file to count", effect("word-count", none()));
      ask(
          "js: more memory than the role has",
          effect("js", source("1"), new Resources(1000, 1L << 40, 1 << 20, 2000)));
      ask("shell: a tool that nobody approved", effect("shell", source("rm -rf /")));
      ask("js: a program that throws", effect("js", source("throw new Error('no such order')")));
      ask(
          "js: a program that never ends",
          effect("js", source("for (;;) {}"), new Resources(300, 64 << 20, 1 << 20, 2000)));
      Envelope dump =
          ask(
              "sql: more than may leave unseen",
              effect(
                  "sql",
                  sql("select name, salary from staff limit 2"),
                  new Resources(2000, 64 << 20, 4 << 20, 5000),
                  staff));
      approve(dump);
      submit("sql: the same, now approved", dump);
      ask("word-count: a second time", effect("word-count", none(), text));
      ask("word-count: a third time this hour", effect("word-count", none(), text));
      RunId run = new RunId(NAMES.tenant(), RUN);
      return new Played(
          home.home().dir(),
          steps,
          RunState.parse(
              kernel.ledger().get(Tables.RUN, Tables.key(run.tenant(), run.run())).orElseThrow()),
          kernel.ledger().head(run).orElseThrow(),
          kernel.checkpoint(),
          home.home().key("log").kid());
    }

    private Envelope ask(String asked, Effect effect) {
      Envelope request = asking.request(agent, RUN, effect, Optional.empty(), List.of(), true);
      submit(asked, request);
      return request;
    }

    private void submit(String asked, Envelope request) {
      progress.step(asked);
      steps.add(new Step(asked, kernel.submit(request, List.of()), false));
    }

    private void approve(Envelope request) {
      Envelope approval =
          asking.approval(
              home.home().key(NAMES.approver()),
              "reviewer",
              request.id(),
              Request.read(request.document()).effect().digest(),
              Approval.Verdict.APPROVE);
      steps.add(new Step("the reviewer approves", kernel.approve(approval), true));
    }

    private Input put(String name, String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      Content content =
          kernel
              .contents()
              .put(
                  NAMES.tenant(),
                  NAMES.agent(),
                  new ByteArrayInputStream(bytes),
                  MediaTypes.of(name));
      return new Input(name, content.digest(), content.size(), content.mediaType());
    }

    private static JsonValue.Obj none() {
      return JsonValue.object().build();
    }

    private static JsonValue.Obj source(String text) {
      return JsonValue.object().put("source", text).build();
    }

    private static JsonValue.Obj sql(String text) {
      return JsonValue.object().put("sql", text).build();
    }

    private static Effect effect(String tool, JsonValue.Obj params, Input... inputs) {
      Resources resources =
          tool.equals("word-count")
              ? new Resources(1000, 16 << 20, 1024, 2000)
              : new Resources(2000, 64 << 20, 1 << 20, 5000);
      return effect(tool, params, resources, inputs);
    }

    private static Effect effect(
        String tool, JsonValue.Obj params, Resources resources, Input... inputs) {
      Optional<ToolManifest> manifest =
          BuiltinTools.manifests().stream().filter(m -> m.name().equals(tool)).findFirst();
      return new Effect(
          tool,
          manifest.map(ToolManifest::version).orElse("1.0.0"),
          manifest.map(m -> m.operations().getFirst().name()).orElse("run"),
          params,
          List.of(inputs),
          resources,
          "wasm",
          Optional.empty());
    }
  }

  private static void print(Played played, Terminal terminal) {
    var out = terminal.out();
    out.println(
        "An agent asked for "
            + (played.steps().size() - 1)
            + " things. Nothing happened without a writ:");
    out.println();
    Table table =
        new Table()
            .column("asked", Table.Fit.CUT)
            .column("outcome", Table.Fit.KEEP)
            .column("why", Table.Fit.WRAP)
            .column("receipt", Table.Fit.KEEP);
    for (Step step : played.steps()) {
      Answer answer = step.answer();
      table.row(
          Table.cell(step.asked()),
          Table.cell(
              step.approval() ? "APPROVED" : AnswerReport.headline(answer),
              AnswerReport.style(answer)),
          Table.cell(
              step.approval() ? "judged again: " + answer.decision().verdict() : why(answer)),
          Table.cell(
              answer.served().map(s -> AnswerReport.shortId(s.id())).orElse("–"), Style.NAME));
    }
    terminal.print(table);
    out.println();
    Receipt last = lastReceipt(played);
    out.println(
        played.run().receipts()
            + " receipts, each signed and naming the one before; the last has lamport "
            + last.lamport()
            + ".");
    out.println("receipt chain ends in  " + played.run().lastReceipt());
    out.println("journal head           " + played.head().id() + ", event " + played.head().seq());
    out.println("checkpoint, signed by log key " + played.key() + ":");
    new CloseCommand.Signed(played.checkpoint())
        .text()
        .lines()
        .forEach(line -> out.println("  " + terminal.paint(Style.DIM, line)));
    out.println();
    out.println("It all lies in " + played.home() + ". Try next:");
    Step denied =
        played.steps().stream()
            .filter(s -> s.answer().decision().verdict() == Verdict.DENY)
            .findFirst()
            .orElseThrow();
    out.println("  " + Homes.name(terminal) + " receipts");
    out.println(
        "  " + Homes.name(terminal) + " show " + AnswerReport.shortId(played.run().lastReceipt()));
    out.println(
        "  "
            + Homes.name(terminal)
            + " policy explain "
            + AnswerReport.shortId(denied.answer().request()));
    out.println("  " + Homes.name(terminal) + " run js --param source='6*7'");
    out.println(
        "  "
            + Homes.name(terminal)
            + " run code_interpreter --param language=python --param code='print(6*7)'");
    out.println("  " + Homes.name(terminal) + " fsck");
  }

  /** The check that refused it and its reason, or a short output itself. */
  private static String why(Answer answer) {
    Optional<String> shown =
        answer
            .served()
            .filter(s -> !s.repeated())
            .flatMap(s -> s.output())
            .map(bytes -> new String(bytes, StandardCharsets.UTF_8));
    return shown.filter(text -> text.length() <= 120).orElseGet(() -> AnswerReport.because(answer));
  }

  private static Receipt lastReceipt(Played played) {
    return played.steps().reversed().stream()
        .flatMap(s -> s.answer().served().stream())
        .findFirst()
        .orElseThrow()
        .receipt();
  }
}
