package dev.writ.replay.proposal;

import dev.writ.guardian.policy.Policy;

/**
 * A policy and the cases that hold it to the record, as files for people.
 *
 * @param policy the policy that {@code text} is, read
 * @param text YAML
 * @param cases YAML, with arguments of recorded calls; empty if none of them can be written in a
 *     file for people
 * @param calls how many calls it was made from
 * @param operations of how many operations
 */
public record Proposal(Policy policy, String text, String cases, int calls, int operations) {
  /** Such as 1 call, 2 calls. */
  public static String counted(int count, String of) {
    return count + " " + of + (count == 1 ? "" : "s");
  }
}
