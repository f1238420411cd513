package dev.writ.ledger.witness;

import dev.writ.canonicalize.WritException;

/**
 * What a witness answers (C2SP tlog-witness).
 *
 * @param status of HTTP
 * @param type the media type of the text
 * @param text signature lines, a size, a checkpoint, or for people why it is refused
 */
public record WitnessAnswer(int status, String type, String text) {
  /** The type of an answer that is a size. */
  public static final String SIZE = "text/x.tlog.size";

  private static final String PLAIN = "text/plain; charset=utf-8";

  static WitnessAnswer ok(String text) {
    return new WitnessAnswer(200, PLAIN, text);
  }

  static WitnessAnswer size(long size) {
    return new WitnessAnswer(409, SIZE, size + "\n");
  }

  static WitnessAnswer refused(int status, WritException reason) {
    return refused(status, reason.code().code() + " " + reason.found());
  }

  static WitnessAnswer refused(int status, String reason) {
    return new WitnessAnswer(status, PLAIN, reason + "\n");
  }
}
