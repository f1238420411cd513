package dev.writ.embed;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What a request came to: denied, waiting for approvals, or executed with a signed receipt. A
 * denial is a value like the others, not an exception. Everything in it is on disk.
 */
public final class Outcome {
  private final Envelope request;
  private final Answer answer;
  private final Optional<Guidance> guidance;

  Outcome(Envelope request, Answer answer, Optional<Guidance> guidance) {
    this.request = request;
    this.answer = answer;
    this.guidance = guidance;
  }

  /** ALLOW, DENY, or ESCALATE for one that waits for approvals. */
  public Verdict verdict() {
    return answer.decision().verdict();
  }

  /** Whether it was allowed and executed, and the tool succeeded. */
  public boolean succeeded() {
    return status().filter(Status.SUCCEEDED::equals).isPresent();
  }

  /** How the tool ended; empty where nothing was executed. */
  public Optional<Status> status() {
    return receipt().map(Receipt::status);
  }

  /** The code of the check or stage that refused the request; empty after success. */
  public Optional<String> code() {
    return receipt().map(Receipt::code).orElseGet(() -> decision().code());
  }

  /** For people: the check that decided and why, or how the tool ended. */
  public String reason() {
    if (receipt().isPresent()) {
      Receipt receipt = receipt().get();
      return receipt.message().isEmpty()
          ? receipt.reason()
          : receipt.reason() + ": " + receipt.message();
    }
    return decision().refusing().map(Outcome::told).orElse("");
  }

  /**
   * What was missing and what would help, where it was not allowed: which argument, which approval,
   * when a budget has room again, and what policy says about it.
   */
  public Optional<Guidance> guidance() {
    return guidance;
  }

  private static String told(CheckOutcome check) {
    return check.check() + " check, " + check.code().orElse("") + ": " + check.detail();
  }

  /** The Guardian's signed decision. */
  public Decision decision() {
    return answer.decision();
  }

  /** The executor's signed receipt; empty if nothing was executed. */
  public Optional<Receipt> receipt() {
    return answer.served().map(Served::receipt);
  }

  /** The request's id, by which an approver approves it. */
  public Digest requestId() {
    return answer.request();
  }

  /**
   * The receipt's id.
   *
   * @throws WritException {@code CLI-019} where nothing was executed
   */
  public Digest receiptId() {
    return answer.served().map(Served::id).orElseThrow(this::none);
  }

  /** Whether this is the stored outcome of an earlier execution. */
  public boolean repeated() {
    return answer.served().filter(Served::repeated).isPresent();
  }

  /**
   * The output's canonical bytes.
   *
   * @throws WritException {@code CLI-019} where there is no output: it was denied, waits, did not
   *     succeed, or its output was dropped
   */
  public byte[] bytes() {
    return answer.served().flatMap(Served::output).orElseThrow(this::none).clone();
  }

  /**
   * The output as UTF-8 text.
   *
   * @throws WritException as {@link #bytes}
   */
  public String text() {
    return new String(bytes(), StandardCharsets.UTF_8);
  }

  /**
   * The output as JSON.
   *
   * @throws WritException as {@link #bytes}, and {@code CAN-0xx} where it is no JSON
   */
  public JsonValue json() {
    return Jcs.parse(bytes());
  }

  Envelope request() {
    return request;
  }

  private WritException none() {
    String why = succeeded() ? "its output is not kept" : reason();
    return new WritException(EmbedError.NO_OUTPUT, verdict() + ", " + why);
  }

  @Override
  public String toString() {
    return "Outcome " + verdict() + status().map(s -> " " + s).orElse("") + " " + requestId();
  }
}
