package dev.writ.replay.error;

import dev.writ.canonicalize.ErrorCode;

/**
 * Divergences of a replay, and refusals of the engine and of the report. They share their prefix
 * with {@link dev.writ.verify.error.BundleError}.
 */
public enum ReplayError implements ErrorCode {
  DIVERGED(
      "RPL-001",
      "an event of the replay differs from the recorded one",
      "Compare the fields: the recording was changed by somebody who holds the keys, or this"
          + " release behaves differently from the one that recorded it."),
  DIVERGED_MISSING(
      "RPL-002", "the recording has an event that the replay does not reach", "As RPL-001."),
  DIVERGED_EXTRA(
      "RPL-003", "the replay reaches an event that the recording does not have", "As RPL-001."),
  DIVERGED_OUTCOME(
      "RPL-004",
      "a tool that ran again gave another result than recorded",
      "Compare the outputs: the tool does not keep its manifest's promise, or the recording is"
          + " not what it gave."),

  REPORT_BOUNDS(
      "RPL-060",
      "the bundle is too large for a page",
      "Verify the bundle itself with `writ verify`; a page holds 256 MiB."),
  REPORT_RUN_TWICE(
      "RPL-061",
      "two bundles of a report have the same run",
      "Name each run once: its requests would be counted twice."),

  KERNEL_UNKNOWN(
      "RPL-070",
      "UNSUPPORTED: the run was recorded under a kernel version that this release does not know",
      "Replay it with the release that recorded it."),
  REPLAY_FAILED(
      "RPL-071",
      "the replay could not go on",
      "Verify the bundle with `writ verify`; if it is valid, report this.");

  private final Entry entry;

  ReplayError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
