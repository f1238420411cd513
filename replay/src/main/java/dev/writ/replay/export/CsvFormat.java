package dev.writ.replay.export;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Comma-separated values (RFC 4180), a row for each outcome, safe to open in a spreadsheet. */
final class CsvFormat implements LineFormat {
  private static final String HEAD =
      "time,outcome,status,code,reason,tenant,run,subject,tool,version,operation,"
          + "started_at,finished_at,policy,request,decision,document,output,lamport,log_index";

  @Override
  public Optional<String> head() {
    return Optional.of(HEAD);
  }

  @Override
  public String line(ExportedOutcome outcome) {
    Optional<Receipt> receipt = outcome.receipt();
    return Stream.of(
            Timestamps.format(outcome.event().at()),
            outcome.kind().text(),
            outcome.status(),
            outcome.code().orElse(""),
            receipt.map(Receipt::reason).orElse(""),
            outcome.event().tenant(),
            outcome.event().run(),
            outcome.request().scope().subject(),
            outcome.request().effect().tool(),
            outcome.request().effect().version(),
            outcome.request().effect().operation(),
            receipt.map(r -> Timestamps.format(r.startedAt())).orElse(""),
            receipt.map(r -> Timestamps.format(r.finishedAt())).orElse(""),
            outcome.decision().policy().toString(),
            outcome.decision().request().toString(),
            outcome
                .receipt()
                .map(Receipt::decision)
                .or(() -> outcome.refusal().map(r -> r.decision()))
                .orElse(outcome.id())
                .toString(),
            outcome.id().toString(),
            receipt.flatMap(Receipt::output).map(Content::digest).map(Digest::toString).orElse(""),
            receipt.map(r -> Long.toString(r.lamport())).orElse(""),
            Long.toString(outcome.index()))
        .map(CsvFormat::cell)
        .collect(Collectors.joining(","));
  }

  /**
   * A cell. A text that a spreadsheet would take for a formula gets an apostrophe in front (OWASP,
   * CSV injection).
   */
  static String cell(String text) {
    String safe = !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
    return safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
        ? '"' + safe.replace("\"", "\"\"") + '"'
        : safe;
  }
}
