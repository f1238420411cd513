package dev.writ.gateway.schedule;

import dev.writ.canonicalize.ErrorCode;

/** Why a call did not get its turn. None of it was begun, so it can be sent again unchanged. */
public enum LaneError implements ErrorCode {
  QUEUE_FULL(
      "GWY-080",
      "the engine's queue is full",
      "Wait as Retry-After says, and retry; policy's engine/queue says how many may wait."),
  TENANT_QUEUE_FULL(
      "GWY-081",
      "the tenant has too many calls waiting",
      "Wait as Retry-After says, and retry; policy's engine/queue says how many may wait."),
  QUEUE_TTL(
      "GWY-082",
      "the call waited for as long as it may, and its turn did not come",
      "Retry later, or have policy give more slots or a longer ttl_ms."),
  TENANT_QUOTA(
      "GWY-083",
      "the tenant runs as much as its quota allows, and may not wait for more",
      "Wait until one of its calls ends, or have policy raise its quota."),
  GIVEN_UP("GWY-084", "the call was given up while it waited", "Send it again.");

  private final Entry entry;

  LaneError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
