package dev.writ.replay.export;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Receipt;
import java.util.ArrayList;
import java.util.List;

/**
 * Statements of in-toto (version 1). The predicate has the document with the signatures that Writ
 * made, by which anybody verifies it; who signs the statement says where it is from.
 */
public final class InTotoStatements {
  private static final String PAYLOAD_TYPE = "application/vnd.in-toto+json";
  private static final String STATEMENT = "https://in-toto.io/Statement/v1";

  private final String origin;

  /**
   * @param origin the name of the log
   */
  public InTotoStatements(String origin) {
    this.origin = origin;
  }

  /** The statement, not signed. */
  public JsonValue.Obj of(ExportedOutcome outcome) {
    return JsonValue.object()
        .put("_type", STATEMENT)
        .put("predicate", predicate(outcome))
        .put("predicateType", "urn:writ:in-toto:" + outcome.kind().text() + ":v1")
        .put("subject", JsonValue.of(subjects(outcome)))
        .build();
  }

  /** In a DSSE envelope that a key signs, in one line of canonical JSON. */
  public static byte[] signed(JsonValue.Obj statement, SigningKey key) {
    return Envelope.sign(PAYLOAD_TYPE, statement, key).toBytes();
  }

  /**
   * The statement of an envelope, whose signature is not looked at.
   *
   * @throws WritException {@code CAN-0xx} for what is no envelope of one
   */
  public static JsonValue read(byte[] envelope) {
    return Jcs.parse(Envelope.parse(envelope).payload());
  }

  private JsonValue.Obj predicate(ExportedOutcome outcome) {
    return JsonValue.object()
        .put("log", JsonValue.object().put("index", outcome.index()).put("origin", origin).build())
        .put("signed", outcome.signed())
        .build();
  }

  /** The document itself, then what the effect made. */
  private static List<JsonValue> subjects(ExportedOutcome outcome) {
    List<JsonValue> subjects = new ArrayList<>();
    subjects.add(subject(outcome.kind().text(), outcome.id()));
    outcome.receipt().ifPresent(receipt -> made(receipt, subjects));
    return subjects;
  }

  private static void made(Receipt receipt, List<JsonValue> subjects) {
    receipt.output().ifPresent(output -> subjects.add(subject("output", output.digest())));
    receipt
        .artifacts()
        .forEach(artifact ->
            subjects.add(subject("artifact/" + artifact.name(), artifact.content().digest())));
  }

  private static JsonValue subject(String name, Digest digest) {
    return JsonValue.object()
        .put("digest", JsonValue.object().put("sha256", digest.hex()).build())
        .put("name", name)
        .build();
  }
}
