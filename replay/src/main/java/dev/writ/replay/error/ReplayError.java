package dev.writ.replay.error;

import dev.writ.canonicalize.ErrorCode;

/**
 * Divergences of a replay, and refusals of the engine and of the report. They share their prefix
 * with {@link dev.writ.verify.error.BundleError}.
 */
public enum ReplayError implements ErrorCode {
  DIVERGED(
      "RPL-001",
      "an event of the replay is another one than recorded",
      "Compare the fields: the recording was changed by who holds the keys, or this release acts"
          + " otherwise than the one that recorded it."),
  DIVERGED_MISSING(
      "RPL-002", "the recording has an event that the replay does not come to", "As RPL-001."),
  DIVERGED_EXTRA(
      "RPL-003", "the replay comes to an event that the recording does not have", "As RPL-001."),
  DIVERGED_OUTCOME(
      "RPL-004",
      "a tool that ran again gave something else than recorded",
      "Compare the outputs: the tool is not what its manifest says, or the record is not what it"
          + " gave."),

  REPORT_BOUNDS(
      "RPL-060",
      "the bundle is too large for a page",
      "Verify the bundle itself with `writ verify`; a page holds 256 MiB."),

  KERNEL_UNKNOWN(
      "RPL-070",
      "UNSUPPORTED: the run was recorded under a kernel version that this release does not know",
      "Replay it with the release that recorded it."),
  REPLAY_FAILED(
      "RPL-071",
      "the replay could not go on",
      "Verify the bundle with `writ verify`; if it holds, report this.");

  private final Entry entry;

  ReplayError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
