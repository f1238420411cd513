package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.ApartExecutor;
import dev.writ.executor.apart.ApartMessage;
import dev.writ.executor.apart.CarriedEvents;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What an executor is founded on: the guardian's log and all of its system run so far. The file
 * {@code guardian.apart} of the executor's home (spec/apart.md). It holds no secret.
 *
 * @param log signs the checkpoints of the guardian's log, whose origin is its name
 * @param witness cosigns those of the executor's log
 * @param names who is who, for commands
 */
public record GuardianCard(
    NoteKey log, WitnessKey witness, Home.Names names, CarriedEvents system) {
  static final String FILE = "guardian.apart";

  /** Where an executor's home has it. */
  public static Path of(Home home) {
    return home.dir().resolve(FILE);
  }

  /** Whether a home is an executor's. */
  public static boolean isIn(Home home) {
    return Files.exists(of(home));
  }

  /** That of a guardian's home, which may be open for work. */
  static GuardianCard of(Home home, LedgerView ledger) {
    return new GuardianCard(
        new NoteKey(home.origin(), home.key("log").verifyingKey()),
        ApartHomes.witness(home, home.origin()),
        new Home.Names(home.tenant(), home.agent(), home.approver()),
        ApartExecutor.systemRun(ledger));
  }

  /** The file's bytes. */
  public byte[] toBytes() {
    return new ApartMessage(
            JsonValue.object()
                .put("agent", names.agent())
                .put("approver", names.approver())
                .put("log", log.toString())
                .put("system", system.toJson())
                .put("tenant", names.tenant())
                .put("witness", witness.toString())
                .build(),
            system.documents().stream().map(Envelope::toBytes).toList())
        .toBytes();
  }

  /**
   * Reads one. Nothing in it is verified yet.
   *
   * @throws WritException {@code CLI-002}, {@code CAN-0xx}, {@code LED-05x}
   */
  public static GuardianCard read(Path file) {
    try {
      ApartMessage message = ApartMessage.parse(Files.readAllBytes(file));
      Fields fields = Fields.of(file.toString(), message.said());
      GuardianCard card =
          new GuardianCard(
              NoteKey.parse(fields.name("log")),
              WitnessKey.parse(fields.name("witness")),
              new Home.Names(fields.name("tenant"), fields.name("agent"), fields.name("approver")),
              CarriedEvents.of(new ApartMessage(fields.obj("system"), message.parts())));
      fields.end();
      return card;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
    }
  }

  /** Writes it into an executor's home. */
  void write(Home home) throws IOException {
    DurableFiles.REAL.write(of(home), toBytes());
  }
}
