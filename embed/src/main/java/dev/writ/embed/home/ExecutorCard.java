package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.embed.error.EmbedError;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a guardian knows its executor by: public halves alone (spec/apart.md). The file {@code
 * executor.json} of both homes; where a home has it and no {@code guardian.apart}, its executor is
 * another process.
 *
 * @param executor signs receipts
 * @param log signs the checkpoints of the executor's log
 * @param witness cosigns those of the guardian's log
 */
public record ExecutorCard(VerifyingKey executor, NoteKey log, WitnessKey witness) {
  static final String FILE = "executor.json";

  /** Where a home has it. */
  public static Path of(Home home) {
    return home.dir().resolve(FILE);
  }

  /** The executor that a guardian's home has elsewhere. */
  public static Optional<ExecutorCard> elsewhere(Home home) {
    return Files.exists(of(home)) && !GuardianCard.isIn(home)
        ? Optional.of(read(of(home)))
        : Optional.empty();
  }

  /**
   * Reads one.
   *
   * @throws WritException {@code CLI-002}, {@code CAN-0xx}, {@code LED-05x}
   */
  public static ExecutorCard read(Path file) {
    try {
      Fields fields =
          Fields.of(file.toString(), Jcs.parse(Files.readAllBytes(file), Limits.DEFAULT));
      ExecutorCard card =
          new ExecutorCard(
              VerifyingKey.fromJwk(fields.obj("executor")),
              NoteKey.parse(fields.name("log")),
              WitnessKey.parse(fields.name("witness")));
      fields.end();
      return card;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
    }
  }

  /** Writes it into a home. */
  public void write(Home home) {
    try {
      DurableFiles.REAL.write(of(home), Jcs.write(toJson()));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, of(home).toString(), e);
    }
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("executor", executor.toJwk())
        .put("log", log.toString())
        .put("witness", witness.toString())
        .build();
  }
}
