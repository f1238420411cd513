package dev.writ.cli.campaign;

import dev.writ.canonicalize.Digest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What clients hold of an installation: all that was acknowledged, and what got no answer. */
final class Memory {
  /**
   * A receipt as a client got it.
   *
   * @param request the envelope's bytes
   * @param answer receipt and output, in canonical form
   * @param outside the id of what was done outside
   */
  record Acknowledged(
      byte[] request, String answer, String receiptId, String status, Optional<String> outside) {}

  /**
   * A request that was sent and not answered.
   *
   * @param input a file that it takes and that may not be stored yet
   */
  record Unanswered(byte[] request, Optional<String> outside, Optional<byte[]> input) {}

  final Map<Digest, Acknowledged> acknowledged = new ConcurrentHashMap<>();
  final Map<Digest, Unanswered> unanswered = new ConcurrentHashMap<>();

  /** What the last answer without a receipt was. */
  final Map<Digest, String> refused = new ConcurrentHashMap<>();

  final Map<String, Digest> closedBundles = new ConcurrentHashMap<>();
  final ConcurrentLinkedQueue<String> closedRuns = new ConcurrentLinkedQueue<>();
  final ConcurrentLinkedQueue<String> enrolled = new ConcurrentLinkedQueue<>();
  final ConcurrentLinkedQueue<String> revoked = new ConcurrentLinkedQueue<>();

  /** What does not hold. */
  private final ConcurrentLinkedQueue<String> findings = new ConcurrentLinkedQueue<>();

  void find(String finding) {
    findings.add(finding);
  }

  List<String> findings() {
    return new ArrayList<>(findings);
  }
}
