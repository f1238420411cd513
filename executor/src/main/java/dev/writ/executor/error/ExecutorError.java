package dev.writ.executor.error;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of this module; the hundreds are the eight stages, 9xx the kernel around them. */
public enum ExecutorError implements ErrorCode {
  MISSING_DECISION("EXE-001", "missing decision", "Send the decision's envelope."),
  MISSING_INTENT("EXE-002", "missing intent", "Send the intent's envelope."),
  MISSING_EFFECT("EXE-003", "missing effect", "Send the effect that was decided on."),
  MALFORMED("EXE-004", "a document is malformed", "Send the document that the Guardian issued."),

  DECISION_SIGNATURE(
      "EXE-101",
      "the decision's signature is not valid",
      "Send the decision as the Guardian signed it."),
  VERDICT("EXE-102", "the decision does not allow this", "Ask for what policy allows."),
  INTENT_SIGNATURE(
      "EXE-103",
      "the intent's signature is not valid",
      "Send the intent as the Guardian signed it."),
  BINDING(
      "EXE-104",
      "decision, intent and effect do not belong together",
      "Send the three of one request."),
  AUDIENCE(
      "EXE-105",
      "the intent is for another ledger, or of an owner before",
      "Ask this one for a decision."),
  HOLDER("EXE-106", "the submitter does not hold this intent", "Sign with the request's key."),
  EXPIRED("EXE-107", "the intent has expired", "Submit the request again; it is judged again."),
  NOT_ISSUED(
      "EXE-108", "this ledger did not issue the intent", "Submit the request to have it judged."),
  RUNNING(
      "EXE-109",
      "the effect was dispatched and is not finished",
      "Wait; after a crash it becomes in doubt at the next start."),
  KEY_REUSED(
      "EXE-110",
      "the idempotency key was used for another effect",
      "Use another key for another effect."),
  SUPERSEDED(
      "EXE-111",
      "the intent is no longer the live one of its request",
      "Submit the request again to get its live intent."),
  ORDER_TIME(
      "EXE-112",
      "an order's time does not fit: it is too old, or from the future",
      "Set the clock of the sender and sign a new order."),

  SNAPSHOT(
      "EXE-201",
      "the decision was made under another policy, tool, sandbox or kernel",
      "Submit the request again; it is judged again."),

  TOOL_UNKNOWN("EXE-301", "the tool is not registered", "Register it, or name another version."),
  TOOL_NOT_APPROVED(
      "EXE-302", "policy does not approve the tool", "Approve its package in policy."),
  TOOL_PROHIBITED("EXE-303", "the tool is prohibited", "Use another tool or version."),
  DRIVER_MISSING("EXE-304", "no driver for the tool", "Start the kernel with that driver."),
  SANDBOX_MISSING(
      "EXE-305", "the driver has no such sandbox profile", "Name a profile of the tool."),
  INPUT_UNKNOWN(
      "EXE-306",
      "an input is not in the tenant's store, or this subject may not name it",
      "Upload the blob as this subject first, or consume the receipt whose effect produced it."),
  CONSUMED_UNKNOWN(
      "EXE-307",
      "a consumed receipt is not one that the subject may read",
      "Name receipts of its own, or have policy share their run: runs, shared_by."),
  PREPARE_FAILED("EXE-308", "the tool cannot be prepared", "See what was found."),
  WORKSPACES_MISSING(
      "EXE-309",
      "the tool needs a workspace, and this installation has none",
      "Run `writ doctor`: workspaces come with the sandbox."),
  WORKSPACE_PIN(
      "EXE-310",
      "the workspace's tree is not the one that the effect pins",
      "Find out what changed it, and submit a request with the present digest."),
  WORKSPACE_QUARANTINED(
      "EXE-311",
      "the workspace is in quarantine: what an earlier effect did to it is unknown",
      "Resolve what is in doubt; if the tree could not be measured, close the run."),

  RUNTIME_NOT_APPROVED(
      "EXE-312",
      "the language runtime that would run the tool is not approved",
      "Have it approved with `writ runtime approve`, or install one that is."),

  DRIVER_FAILED("EXE-401", "the driver failed while the tool ran", "Look at the receipt's reason."),
  WORKSPACE_UNMEASURED(
      "EXE-402",
      "the workspace could not be measured when the tool had ended",
      "Look at the receipt's message; the run can use this workspace no more."),

  CONTRACT_DRIFT(
      "ERR_CONNECTOR_CONTRACT_DRIFT",
      "the output is not what the tool's manifest promises",
      "Mend the tool, or register a version with another contract."),

  NO_CANONICAL_FORM(
      "EXE-601", "the output has no canonical form", "Let the tool write well-formed output."),

  STORE_INTEGRITY("EXE-701", "what was stored is not what was given", "Check the disk."),
  STORE_FAILED("EXE-702", "the output cannot be stored", "Free space or mend the disk."),

  RECEIPT_FAILED(
      "EXE-801",
      "the receipt cannot be signed",
      "The effect becomes in doubt at the next start; mend the executor's key."),

  RUN_CLOSED("EXE-901", "the run is closed", "Start another run."),
  NOT_THE_OPENER("EXE-902", "the run was opened by another key", "Use a run of your own."),
  RUN_UNFINISHED(
      "EXE-903", "the run has unfinished or unresolved work", "Finish or resolve it, then close."),
  TIME_WENT_BACK(
      "EXE-904",
      "the clock is behind the ledger's time",
      "Set the clock; nothing is decided or dispatched until then. If the clock is right and"
          + " the ledger's time ran ahead: `writ clock correct`."),
  UNKNOWN_ID("EXE-905", "there is nothing of that id", "Check the id and the tenant."),
  POLICY_ORDER(
      "EXE-906", "the policy does not follow the one in force", "Raise version and name previous."),
  NOT_PENDING("EXE-908", "the request does not wait for approval", "Look at its decision."),
  NOT_IN_DOUBT("EXE-909", "the receipt is not in doubt", "Only IN_DOUBT receipts are resolved."),
  ALREADY_RESOLVED("EXE-910", "the receipt is resolved already", "Look at its resolution."),
  NO_POLICY("EXE-911", "no policy is in force", "Activate one with `writ policy activate`."),
  OWN_KEY(
      "EXE-912",
      "a key that this kernel signs with is not in force",
      "Enrol it, or start the kernel with one that is."),
  NOT_WIPED(
      "EXE-913",
      "the run is closed; its workspace could not be wiped",
      "Look at what was found; it is tried again at every start."),
  GOVERNANCE_ORDER(
      "EXE-914",
      "the tool's state in governance does not allow this",
      "Look at `writ tool status`; spec/tool-governance.md has the order."),
  GOVERNANCE_BINDING(
      "EXE-915",
      "a document of tool governance is about another package, or one that policy does not govern",
      "Name the package that was submitted, and have policy's governance cover the tool."),
  GOVERNANCE_SIGNER(
      "EXE-916",
      "the approver may not approve this tool",
      "Ask an approver whom policy's governance names and who did not publish the tool."),
  GOVERNANCE_INCOMPLETE(
      "EXE-917",
      "a tool lacks what it needs before it runs: a validation without findings, or approvals",
      "Look at `writ tool review`; correct the package, or ask further approvers."),
  TIME_LEAPT(
      "EXE-980",
      "the clock is further ahead of the ledger's time than policy allows",
      "Set the clock; nothing is decided or dispatched until then. If the clock is right,"
          + " start again, or sign for it with `writ clock correct`."),
  CLOCK_CORRECTION(
      "EXE-981",
      "a correction of the clock does not fit this position of the log",
      "Stop the kernel and run `writ clock correct`, which states what is found."),
  CLOCK_FITS(
      "EXE-983", "the clock fits the ledger", "There is nothing to correct; start the kernel."),
  CANARY_BY_RUN(
      "EXE-984",
      "a canary's share is drawn by run names, which callers choose",
      "State the canary with \"by\": \"subject\", as `writ tool stage` does."),

  CONTENT_DELETED(
      "EXE-960",
      "the content was deleted, as a rule of policy says",
      "Its digest and its documents are still there. Ask whoever keeps a copy; its digest shows"
          + " whether that is the same."),

  STATE_MOVED(
      "EXE-970",
      "keys, policy or tools kept changing while this was at work",
      "Nothing was done; try again."),
  KEPT_OTHERWISE(
      "EXE-971",
      "the ledger keeps, or will keep, this document in another envelope",
      "Send the envelope that the ledger has, or sign another document: the first envelope is"
          + " kept.");

  private final Entry entry;

  ExecutorError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
