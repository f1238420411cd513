package dev.writ.cli.command.run;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Homes;
import dev.writ.cli.command.Ids;
import dev.writ.cli.term.PrettyJson;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.ApproverRole;
import dev.writ.embed.home.Home;
import dev.writ.executor.SystemState;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.view.WaitingView;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.error.GuardianError;
import dev.writ.ledger.LedgerView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What an approver is about to sign. It is signed as it was shown: for that effect, under the
 * policy of that moment.
 *
 * @param view what waits
 * @param inputs of its effect
 * @param key the approver's
 * @param holder the key as it is enrolled
 */
record ShownApproval(
    WaitingView view,
    List<ShownInput> inputs,
    SigningKey key,
    TrustedKey holder,
    String role,
    Approval.Verdict verdict,
    Optional<String> reason) {
  private static final Duration LIFE = Duration.ofHours(1);
  private static final int LABEL = 11;
  private static final String MARGIN = "  │ ";

  ShownApproval {
    inputs = List.copyOf(inputs);
  }

  /** What the approver says of it. */
  record Word(
      SigningKey key, Optional<String> role, Approval.Verdict verdict, Optional<String> reason) {}

  /**
   * Reads what waits.
   *
   * @throws WritException {@code CLI-015} for no request, {@code EXE-908} where it does not wait,
   *     {@code GRD-308} where it would be approved and has waited for too long, {@code CAN-023} for
   *     a reason that is not one line
   */
  static ShownApproval read(Home home, LedgerView ledger, String request, Word word) {
    Instant now = Homes.clock().instant();
    Envelope found = Ids.document(ledger, request);
    if (!found.payloadType().equals(Request.TYPE)) {
      throw Ids.noRequest(request);
    }
    WaitingView view =
        WaitingHere.of(home, ledger)
            .find(found.id(), now)
            .orElseThrow(
                () -> new WritException(ExecutorError.NOT_PENDING, "request " + found.id()));
    if (word.verdict() == Approval.Verdict.APPROVE && view.isLate(now)) {
      throw new WritException(
          GuardianError.TEMPORAL_PENDING,
          "it could be approved until "
              + Timestamps.format(view.until())
              + "; to end it: writ approve "
              + AnswerReport.shortId(view.id())
              + " --reject");
    }
    SystemState state = SystemState.read(ledger);
    String kid = word.key().kid();
    TrustedKey holder =
        state
            .trust()
            .key(kid)
            .orElseThrow(() -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + kid));
    String role =
        word.role()
            .orElseGet(() ->
                ApproverRole.only(
                    view.policy().approverRoles(holder.tenant().orElse(""), holder.subject())));
    List<ShownInput> inputs =
        view.request().effect().inputs().stream()
            .map(input -> ShownInput.read(ledger, input))
            .toList();
    ShownApproval question =
        new ShownApproval(view, inputs, word.key(), holder, role, word.verdict(), word.reason());
    Approval.read(question.approval(now).toJson());
    return question;
  }

  private Approval approval(Instant now) {
    return new Approval(
        holder.tenant().orElse(""),
        holder.subject(),
        role,
        view.id(),
        view.request().effect().digest(),
        view.policy().digest(),
        verdict,
        now,
        now.plus(LIFE),
        reason);
  }

  /** The signed answer. */
  Envelope sign(Instant now) {
    return Envelope.sign(Approval.TYPE, approval(now).toJson(), key);
  }

  String text() {
    return verdict == Approval.Verdict.REJECT ? "Reject?" : "Approve?";
  }

  /** Shows it beside the data, whole; what others wrote stands behind a margin. */
  void print(Terminal terminal, Instant now) {
    new Printed(terminal).print(now);
  }

  private final class Printed {
    private final Terminal terminal;

    Printed(Terminal terminal) {
      this.terminal = terminal;
    }

    void print(Instant now) {
      Effect effect = view.request().effect();
      arguments(effect.params());
      line("tool", effect.tool() + " " + effect.version());
      line("operation", effect.operation());
      inputs.forEach(this::input);
      view.network().forEach(place -> line("network", place));
      view.paths().forEach(path -> line("path", path));
      view.cost().ifPresent(cost -> line("cost", Long.toString(cost)));
      line("sandbox", effect.sandbox() + ", " + ceilings(effect.resources()));
      effect.workspaceBefore().ifPresent(tree -> line("workspace", tree.toString()));
      line("asked by", view.request().scope().subject());
      view.onBehalfOf().forEach(subject -> line("on behalf", subject));
      line("run", view.request().scope().tenant() + "/" + view.request().scope().run());
      line(
          "waits",
          "for "
              + WaitingHere.length(Duration.between(view.since(), now))
              + ", until "
              + Timestamps.format(view.until())
              + (view.isLate(now) ? ": too late, it is refused whoever approves it" : ""));
      line("needs", WaitingHere.needed(view));
      line("request", view.id().toString());
      line("effect", effect.digest().toString());
      line("policy", view.policy().digest() + ", version " + view.policy().version());
      line("signs", holder.subject() + " as " + role + ", valid for an hour, key " + key.kid());
      reason.ifPresent(text -> line("reason", text));
    }

    private static String ceilings(Resources most) {
      return "at most "
          + most.cpuMs()
          + " ms of CPU, "
          + most.wallMs()
          + " ms, "
          + most.memoryBytes()
          + " bytes of memory, "
          + most.outputBytes()
          + " bytes of output";
    }

    private void arguments(JsonValue.Obj params) {
      label("arguments", Jcs.write(params).length + " bytes");
      PrettyJson.lines(params).forEach(line -> margin(line, Style.PLAIN));
      for (Map.Entry<String, JsonValue> param : params.members().entrySet()) {
        if (param.getValue() instanceof JsonValue.Str text && text.value().contains("\n")) {
          label("in lines", param.getKey());
          lines(text.value());
        }
      }
    }

    private void input(ShownInput shown) {
      Input input = shown.input();
      line(
          "input",
          input.name()
              + "  "
              + input.size()
              + " bytes of "
              + input.mediaType()
              + (shown.text().isPresent() ? ", " : " (not shown here), ")
              + input.digest());
      shown.text().ifPresent(this::lines);
    }

    private void lines(String text) {
      text.lines().forEach(line -> margin(Text.printable(line), ofDiff(line)));
    }

    /** Added and removed lines, where the text is a diff. */
    private static Style ofDiff(String line) {
      return line.startsWith("+") ? Style.GOOD : line.startsWith("-") ? Style.BAD : Style.PLAIN;
    }

    private void margin(String line, Style style) {
      for (String part : Text.fold(line, terminal.width() - MARGIN.length())) {
        terminal.err().println(MARGIN + terminal.paintErr(style, part));
      }
    }

    private void label(String label, String value) {
      line(label, value);
    }

    private void line(String label, String value) {
      String head = label + " ".repeat(LABEL - label.length());
      List<String> parts = Text.fold(Text.printable(value), terminal.width() - LABEL);
      for (String part : parts) {
        terminal.err().println(terminal.paintErr(Style.DIM, head) + part);
        head = " ".repeat(LABEL);
      }
    }
  }
}
