package dev.writ.executor.apart;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The end of an order.
 *
 * @param receipt as the executor signed and stored it
 * @param contents what it names, by digest; of what was not retained the first answer has the
 *     output alone
 */
public record OrderEnded(Envelope receipt, SortedMap<Digest, byte[]> contents) {
  public OrderEnded {
    contents = Collections.unmodifiableSortedMap(contents);
  }

  /** The receipt is the first part, each content another. */
  public ApartMessage message() {
    List<byte[]> parts = new ArrayList<>();
    parts.add(receipt.toBytes());
    parts.addAll(contents.values());
    return new ApartMessage(JsonValue.object().build(), parts);
  }

  /**
   * Reads one. Contents are named by what they are, so a wrong one is one that is missing.
   *
   * @throws dev.writ.canonicalize.WritException {@code CAN-0xx}
   */
  public static OrderEnded of(ApartMessage message) {
    Envelope receipt = Envelope.parse(message.part(0));
    TreeMap<Digest, byte[]> contents = new TreeMap<>();
    message
        .parts()
        .subList(1, message.parts().size())
        .forEach(bytes -> contents.put(Digest.sha256(bytes), bytes));
    return new OrderEnded(receipt, contents);
  }
}
