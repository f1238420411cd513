package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The answer to a request, for people and as JSON.
 *
 * @param isLate whether it waits for an approval longer than policy lets it, so that none helps
 */
public record AnswerReport(Answer answer, Optional<Help> guidance, boolean isLate)
    implements Report {
  private static final int OUTPUT_SHOWN_MAX = 4000;

  static AnswerReport of(Kernel kernel, Answer answer) {
    return new AnswerReport(
        answer,
        kernel.explanations().guidance(answer).map(Help::of),
        isLate(answer.decision(), kernel.system().policyInForce(), kernel.now()));
  }

  /** Whether what that decision has waiting is refused, whoever approves it now. */
  static boolean isLate(Decision decision, Policy inForce, Instant now) {
    return decision.verdict() == Verdict.ESCALATE
        && JudgeInputs.read(decision.inputs())
            .receivedAt()
            .plusSeconds(inForce.limits().pendingMaxS())
            .isBefore(now);
  }

  /**
   * The guidance of a kernel here, or as a server told it.
   *
   * @param isObserved whether nothing of it was enforced
   * @param faults of parameters, a sentence each
   * @param lines all of it, the faults among them
   */
  record Help(JsonValue.Obj json, boolean isObserved, List<String> faults, List<String> lines) {
    static Help of(Guidance guidance) {
      return new Help(
          guidance.toJson(), guidance.observed().isPresent(), guidance.faults(), guidance.lines());
    }

    /** Of a server's answer: its lines begin with the faults where it is enforced. */
    static Help of(JsonValue.Obj json) {
      Fields fields = Fields.of("guidance", json);
      List<String> lines = fields.list("help", Fields::stringItem);
      int faults = fields.list("parameters", (_, value) -> value).size();
      return new Help(json, fields.has("observed"), lines.subList(0, faults), lines);
    }

    List<String> further() {
      return lines.subList(faults.size(), lines.size());
    }
  }

  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .put("request", answer.request())
        .put("verdict", answer.decision().verdict().name())
        .put("decision_id", answer.decisionEnvelope().id())
        .put("decision", answer.decision().toJson())
        .putIfPresent("intent_id", answer.intent(), e -> JsonValue.of(e.id().toString()))
        .putIfPresent("receipt_id", answer.served(), s -> JsonValue.of(s.id().toString()))
        .putIfPresent("receipt", answer.served(), s -> s.receipt().toJson())
        .putIfPresent("repeated", answer.served(), s -> JsonValue.of(s.repeated()))
        .putIfPresent("output", answer.served().flatMap(AnswerReport::outputJson), v -> v)
        .putIfPresent("guidance", guidance, Help::json)
        .build();
  }

  /** The output as a value where it is JSON, as text where it is text; else by its digest alone. */
  private static Optional<JsonValue> outputJson(Served served) {
    if (served.output().isEmpty() || served.receipt().output().isEmpty()) {
      return Optional.empty();
    }
    byte[] bytes = served.output().get();
    String type = served.receipt().output().get().mediaType();
    if (type.equals("application/json")) {
      return Optional.of(Jcs.parse(bytes));
    }
    return type.startsWith("text/")
        ? Optional.of(JsonValue.of(new String(bytes, StandardCharsets.UTF_8)))
        : Optional.empty();
  }

  ExitCode exitCode() {
    return switch (answer.decision().verdict()) {
      case DENY -> ExitCode.REFUSED;
      case ESCALATE -> ExitCode.PENDING;
      case ALLOW ->
          answer.served().filter(s -> s.receipt().status() != Status.SUCCEEDED).isPresent()
              ? ExitCode.REFUSED
              : ExitCode.OK;
    };
  }

  /** Prints the output to stdout and everything else to stderr. */
  void print(Terminal terminal) {
    var err = terminal.err();
    List<String> lines = told();
    err.println(terminal.paintErr(style(), headline()) + "  " + Text.printable(lines.getFirst()));
    lines.stream().skip(1).forEach(line -> err.println("  " + Text.printable(line)));
    err.println("  request  " + answer.request());
    err.println("  decision " + answer.decisionEnvelope().id());
    answer
        .served()
        .ifPresent(served -> {
          err.println("  receipt  " + served.id() + "  lamport " + served.receipt().lamport());
          served.output().ifPresent(bytes -> printOutput(terminal, served, bytes));
        });
    answer
        .served()
        .flatMap(served -> doubt(terminal, served))
        .ifPresent(line -> err.println("  " + Text.printable(line)));
    if (answer.decision().verdict() == Verdict.ESCALATE) {
      err.println(next(terminal));
    }
  }

  private String next(Terminal terminal) {
    String approve = Homes.name(terminal) + " approve " + shortId(answer.request());
    return isLate
        ? "  It waited longer than policy lets it: no approval helps. Sign a new request; this one"
            + " keeps its run open until it is rejected: "
            + approve
            + " --reject"
        : "  next: " + approve;
  }

  /** Prints what an approval led to: nothing is executed by it. */
  void printApproved(Terminal terminal) {
    printApproved(
        terminal,
        answer.decision().verdict().name(),
        answer.request().toString(),
        answer.decisionEnvelope().id().toString(),
        because(answer));
  }

  /**
   * The same of a server's answer.
   *
   * @param why it was denied; empty where that is not known
   */
  static void printApproved(
      Terminal terminal, String verdict, String request, String decision, String why) {
    var err = terminal.err();
    String said =
        switch (verdict) {
          case "ALLOW" ->
              terminal.paintErr(Style.GOOD, "APPROVED")
                  + "  it may be executed now; nothing has run yet";
          case "ESCALATE" ->
              terminal.paintErr(Style.WARN, "APPROVED") + "  further approvals are missing";
          default ->
              terminal.paintErr(Style.BAD, "DENIED")
                  + "  it will not be executed"
                  + (why.isEmpty() ? "" : ": " + Text.printable(why));
        };
    err.println(said);
    err.println("  request  " + Text.printable(request));
    err.println("  decision " + Text.printable(decision));
    if (verdict.equals("ALLOW")) {
      err.println(
          "  next: "
              + Homes.name(terminal)
              + " submit "
              + shortId(Digest.parse(request))
              + ", unless its agent calls again by itself");
    }
  }

  /** What an operator has found out of an effect in doubt, or how that is stated. */
  private static Optional<String> doubt(Terminal terminal, Served served) {
    if (served.receipt().status() != Status.IN_DOUBT) {
      return Optional.empty();
    }
    return served
        .resolution()
        .map(envelope -> Resolution.read(envelope.document()))
        .map(stated ->
            "resolved "
                + stated.found().text()
                + (stated.note().isEmpty() ? "" : ": " + stated.note()))
        .or(() ->
            Optional.of(
                "next: find out whether it happened, then "
                    + Homes.name(terminal)
                    + " resolve "
                    + shortId(served.id())
                    + " happened|did-not-happen|cannot-be-known"));
  }

  /** Why, behind what the caller itself got wrong; what is not enforced comes behind what came. */
  private List<String> told() {
    Optional<Help> refusal = guidance.filter(told -> !told.isObserved());
    List<String> lines = new ArrayList<>(refusal.map(Help::faults).orElse(List.of()));
    lines.add(because(answer));
    answer.served().ifPresent(served -> lines.addAll(furtherMessage(served.receipt())));
    lines.addAll(refusal.map(Help::further).or(() -> guidance.map(Help::lines)).orElse(List.of()));
    return lines;
  }

  private static void printOutput(Terminal terminal, Served served, byte[] bytes) {
    Content content = served.receipt().output().orElseThrow();
    boolean readable =
        content.mediaType().equals("application/json") || content.mediaType().startsWith("text/");
    if (!terminal.outIsTerminal()) {
      terminal.out().writeBytes(bytes);
      return;
    }
    if (!readable || bytes.length > OUTPUT_SHOWN_MAX) {
      terminal
          .out()
          .println(
              bytes.length
                  + " bytes of "
                  + content.mediaType()
                  + "; to keep them: "
                  + Homes.name(terminal)
                  + " output "
                  + shortId(served.id())
                  + " > FILE");
      return;
    }
    new String(bytes, StandardCharsets.UTF_8)
        .lines()
        .forEach(line -> terminal.out().println(Text.printable(line)));
  }

  Style style() {
    return style(answer);
  }

  /** In which style the headline is shown. */
  public static Style style(Answer answer) {
    return switch (answer.decision().verdict()) {
      case DENY -> Style.BAD;
      case ESCALATE -> Style.WARN;
      case ALLOW ->
          answer.served().map(s -> s.receipt().status()).orElse(Status.SUCCEEDED)
                  == Status.SUCCEEDED
              ? Style.GOOD
              : Style.BAD;
    };
  }

  String headline() {
    return headline(answer);
  }

  /** What became of the request, in a word or two. */
  public static String headline(Answer answer) {
    return switch (answer.decision().verdict()) {
      case DENY -> "DENIED";
      case ESCALATE -> "ESCALATED";
      case ALLOW ->
          answer
              .served()
              .map(s ->
                  s.receipt().status() == Status.SUCCEEDED
                      ? "ALLOWED"
                      : s.receipt().status().name().replace('_', ' '))
              .orElse("ALLOWED");
    };
  }

  /** The check that refused it and why, or how the tool ended. */
  public static String because(Answer answer) {
    if (answer.decision().verdict() != Verdict.ALLOW) {
      return because(answer.decision());
    }
    return answer
        .served()
        .map(AnswerReport::because)
        .orElse("it may be executed; nothing has run yet");
  }

  /** Of one that was not allowed. */
  static String because(Decision decision) {
    return decision
        .refusing()
        .map(c -> c.check() + " check, " + c.code().get() + ": " + c.detail())
        .orElse("");
  }

  static String because(Served served) {
    Receipt receipt = served.receipt();
    String repeated = served.repeated() ? ", the stored receipt" : "";
    if (receipt.status() == Status.SUCCEEDED) {
      return receipt
          .output()
          .map(o -> o.mediaType() + ", " + o.size() + " bytes" + repeated)
          .orElse("no output" + repeated);
    }
    String code = receipt.code().map(c -> c + " ").orElse("");
    String message =
        receipt.message().isEmpty() || receipt.message().endsWith(receipt.reason())
            ? ""
            : ": " + receipt.message().lines().findFirst().orElse("");
    return code + receipt.reason() + message + repeated;
  }

  /** What a failed tool said behind its first line, which {@link #because} has. */
  private static List<String> furtherMessage(Receipt receipt) {
    return receipt.status() == Status.SUCCEEDED
        ? List.of()
        : receipt.message().lines().skip(1).filter(line -> !line.isBlank()).toList();
  }

  /** The first twelve hex digits: enough to name a document for {@code writ show}. */
  public static String shortId(Digest digest) {
    return digest.hex().substring(0, 12);
  }
}
