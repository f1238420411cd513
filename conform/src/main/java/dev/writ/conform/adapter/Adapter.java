package dev.writ.conform.adapter;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.conform.ConformError;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import java.util.SortedMap;

/**
 * The adapter protocol (spec/conformance.md) over a table of operations: a line in, a line out,
 * whatever the line holds.
 */
public final class Adapter {
  /** Limits of one line without its end; a bundle of 45 MiB fits. */
  public static final Limits LIMITS = new Limits(64 << 20, 160);

  private final SortedMap<String, Operation> operations;

  public Adapter(SortedMap<String, Operation> operations) {
    this.operations = operations;
  }

  /** Answers every line until there are no more. */
  public void serve(InputStream in, OutputStream out) throws IOException {
    AdapterLines lines = new AdapterLines(in, LIMITS.bytesMax());
    OutputStream answers = new BufferedOutputStream(out, 1 << 16);
    for (AdapterLines.Line line = lines.next(); line != null; line = lines.next()) {
      answers.write(line.tooLong() ? tooLong() : answer(line.bytes()));
      answers.write('\n');
      // Flush when no further question is there: a caller that waits for this answer gets it now,
      // and a stream of questions does not cost one write each.
      if (!lines.hasMoreAtHand()) {
        answers.flush();
      }
    }
    answers.flush();
  }

  private static byte[] tooLong() {
    return Jcs.write(
        refused(
                new WritException(
                    ConformError.LINE_TOO_LONG, "more than " + LIMITS.bytesMax() + " bytes"))
            .toJson(Optional.empty()));
  }

  /** The line that answers one line. */
  public byte[] answer(byte[] line) {
    Optional<String> id = Optional.empty();
    AdapterAnswer answer;
    try {
      JsonValue value = Jcs.parse(line, LIMITS);
      Fields fields = Fields.of("line", value);
      id = Optional.of(fields.string("id"));
      String op = fields.string("op");
      JsonValue.Obj input = fields.obj("input");
      fields.end();
      answer = ask(op, input);
    } catch (WritException e) {
      answer = refused(e);
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
      answer = internal(e);
    }
    return Jcs.write(answer.toJson(id));
  }

  /** The output of one operation, or the code of its refusal; never an exception. */
  public AdapterAnswer ask(String op, JsonValue.Obj input) {
    Operation operation = operations.get(op);
    if (operation == null) {
      return new AdapterAnswer.Refused(AdapterAnswer.UNSUPPORTED, "no operation of that name");
    }
    try {
      Fields fields = Fields.of("input", input);
      JsonValue.Obj output = operation.apply(fields);
      fields.end();
      return new AdapterAnswer.Output(output);
    } catch (WritException e) {
      return refused(e);
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
      return internal(e);
    }
  }

  private static AdapterAnswer refused(WritException e) {
    return new AdapterAnswer.Refused(e.code().code(), wellFormed(e.getMessage()));
  }

  /** An internal error, which must not end the adapter. */
  private static AdapterAnswer internal(Throwable e) {
    return new AdapterAnswer.Refused(AdapterAnswer.INTERNAL, e.getClass().getSimpleName());
  }

  /** A message may quote what was sent, cut anywhere: no half of a surrogate pair may go out. */
  private static String wellFormed(String message) {
    StringBuilder text = new StringBuilder(message.length());
    message
        .codePoints()
        .forEach(c -> text.appendCodePoint(c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c));
    return text.toString();
  }
}
