package dev.writ.surfaces.execute;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of seed 000's surface itself, for which the seed has no code. */
public enum ExecuteError implements ErrorCode {
  KEEPS_FILES(
      "GWY-131",
      "the tool of the intent's effect keeps files for its run, and this surface's requests share"
          + " none",
      "Name a tool without workspace in the policy's intent, such as exec_ephemeral.");

  private final Entry entry;

  ExecuteError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
