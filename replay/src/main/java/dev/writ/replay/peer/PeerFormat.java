package dev.writ.replay.peer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Optional;

/** A format of receipts that another system writes. */
sealed interface PeerFormat permits AgtMcpFormat, HelmV5Format {
  List<PeerFormat> ALL = List.of(new AgtMcpFormat(), new HelmV5Format());

  /** Its name, as spec/peers.md has it. */
  String name();

  /** The receipts of a text of this format, in its order; empty where it is of another one. */
  Optional<List<JsonValue.Obj>> receipts(JsonValue text);

  /**
   * Reads one receipt.
   *
   * @throws WritException {@code CAN-020} or {@code CAN-022} for a member that is missing or of
   *     another type; {@code PRC-007} and {@code PRC-008} as spec/peers.md, 4 and 9, say
   */
  PeerReceipt read(String path, JsonValue.Obj receipt);

  /** Whether the first receipt of a chain may name one that comes before it. */
  boolean mayBeginLater();

  /**
   * What the order of two receipts must keep beside their digests.
   *
   * @throws WritException {@code PRC-005} where it does not
   */
  void follows(String path, JsonValue.Obj before, JsonValue.Obj after);

  /** What the signatures cover, for people. */
  String covers();

  /** What a chain of this format does not prove, whatever was verified; a line each. */
  List<String> leavesOpen();
}
