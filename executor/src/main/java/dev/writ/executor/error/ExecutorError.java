package dev.writ.executor.error;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of this module; the hundreds are the eight stages, 9xx the kernel around them. */
public enum ExecutorError implements ErrorCode {
  MISSING_DECISION("EXE-001", "missing decision", "Send the decision's envelope."),
  MISSING_INTENT("EXE-002", "missing intent", "Send the intent's envelope."),
  MISSING_EFFECT("EXE-003", "missing effect", "Send the effect that was decided on."),
  MALFORMED(
      "EXE-004",
      "a document is malformed, or does not fit what is in force",
      "Send decisions and intents as the Guardian issued them. Of an operator's statement, look at"
          + " what is in force: `writ key list` has the keys, `writ retention status` the holds,"
          + " `writ tool status` the tools."),

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
  EXPIRED(
      "EXE-107",
      "the intent has expired, or the key of somebody who allowed it was revoked",
      "Submit the request again; it is judged again."),
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
      "Resolve what is in doubt: `writ receipts` shows it, `writ resolve` takes what was found. If"
          + " the tree could not be measured, close the run."),

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
  STORE_FAILED(
      "EXE-702",
      "the output cannot be stored",
      "Follow the code that the message names; where it names none, free space or mend the disk."),

  RECEIPT_FAILED(
      "EXE-801",
      "the receipt cannot be signed",
      "Mend the executor's key, or wait until its service signs again. A pure effect is done again"
          + " by the same request; any other gets its receipt then, or is in doubt at the next"
          + " start."),

  RUN_CLOSED("EXE-901", "the run is closed", "Ask in another run, as by writ run --run NAME."),
  NOT_THE_OPENER("EXE-902", "the run was opened by another key", "Use a run of your own."),
  RUN_UNFINISHED(
      "EXE-903",
      "the run has unfinished or unresolved work",
      "Approve, reject (`writ approve ID --reject`) or submit what waits, let end what runs,"
          + " resolve what is in doubt (`writ log --run` shows them); then close."),
  TIME_WENT_BACK(
      "EXE-904",
      "the clock is behind the ledger's time",
      "Set the clock; nothing is decided or dispatched until then. If the clock is right and"
          + " the ledger's time ran ahead: end the server, `writ clock correct`, and start it"
          + " again."),
  UNKNOWN_ID("EXE-905", "there is nothing of that id", "Check the id and the tenant."),
  POLICY_ORDER(
      "EXE-906",
      "the policy does not follow the one in force",
      "Look at the one in force, which may have come meanwhile (`writ policy show`), and activate"
          + " yours again; a document signed elsewhere has the next version and names it as"
          + " previous."),
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
  EXECUTOR_ABSENT(
      "EXE-930",
      "the executor does not answer",
      "Start it with `writ executor serve`, and look at `executor` in gateway.yaml. The guardian"
          + " dispatched nothing; send the request again."),
  OUTCOME_AWAITED(
      "EXE-931",
      "the effect was dispatched, and its receipt has not come back from the executor",
      "Send the same request again: it is not done twice, and gets the executor's receipt."),
  FORKED(
      "EXE-932",
      "guardian and executor differ about the last receipt of a run",
      "Compare the two logs with `writ executor compare`; use another run meanwhile."),
  SYSTEM_DIFFERS(
      "EXE-933",
      "the executor's copy of the system run is not a beginning of the guardian's",
      "Compare the two logs; an executor serves one guardian's log from its first event on."),
  SYSTEM_BEHIND(
      "EXE-934",
      "the executor's copy of the system run is behind the guardian's",
      "The guardian carries the events over and asks again."),
  ANSWER_WRONG(
      "EXE-935",
      "what the executor answers does not belong to what it was asked",
      "Find out who answers at the executor's address; nothing of it was recorded."),
  NEVER_BEGUN(
      "EXE-936",
      "the executor did not begin the effect, and never will",
      "Nothing happened. Submit a new request."),
  STATEMENT_REFUSED(
      "EXE-937",
      "the executor does not sign this statement",
      "Its own log says something else; compare the two logs."),
  WITNESSED_OTHERWISE(
      "EXE-939",
      "guardian and executor do not see the same history of one of their logs",
      "One of the two logs was changed or put back: keep both, and compare them with `writ executor"
          + " compare` and with checkpoints that others hold."),
  NOT_APART(
      "EXE-938",
      "this does not work where guardian and executor are apart",
      "See spec/apart.md, \"What does not work apart\"."),

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
  OTHER_CELL(
      "EXE-990",
      "the tenant's work is done in another cell of the installation: nothing was done",
      "Send it with a credential of its own tenant, or with none; a command finds the tenant's cell"
          + " without `--cell`. What waited for an approval when the tenant was moved is void: its"
          + " agent asks anew."),
  CELL_BEHIND(
      "EXE-991",
      "the cell has not seen lately what is in force in its installation: nothing is decided or"
          + " dispatched",
      "Send it again in a moment. If it stays so, look whether this gateway reaches the database,"
          + " and what its log says of `system-not-seen`."),
  NOT_SYSTEM_CELL(
      "EXE-992",
      "the installation is changed in its system cell, and nowhere else",
      "Send the statement to any gateway, or run the command with `--cell 0`."),
  CELL_FORKED(
      "EXE-994",
      "a cell's log is another one than the system cell has stated",
      "Keep the cell's log and the statement: together they are the proof of a fork. Restore the"
          + " log that was stated; whoever answers for the other one puts that in service with"
          + " `writ --cell N fsck --restored`."),
  CELL_ROLLED_BACK(
      "EXE-995",
      "a cell's log has less than the system cell has stated of it",
      "Restore what is missing. If it is lost for good, say so with `writ --cell N fsck"
          + " --restored`, which begins the log's next incarnation."),
  CELL_UNSIGNED(
      "EXE-996",
      "a cell's checkpoint is not signed by the installation's log key, or is of another log",
      "Look who else can write to the database. After a change of the log's key this passes with"
          + " the cell's next checkpoint."),
  CELL_DIVERGED(
      "EXE-993",
      "the cell's system run does not begin as that of the installation's system cell",
      "The cell is of another installation, or one of the two lost its last events in a failover of"
          + " the database: compare both system runs, and restore what was lost."),

  CONTENT_DELETED(
      "EXE-960",
      "the content was deleted, as a rule of policy or an operator's order says",
      "Its digest and its documents are still there. Ask whoever keeps a copy; its digest shows"
          + " whether that is the same."),

  ARCHIVE_NOT_ALLOWED(
      "EXE-940",
      "policy does not let closed runs be moved to the archive",
      "Put `archive_after_s` into policy's section `retention`, and activate it with `writ policy"
          + " activate`."),
  ARCHIVE_TOO_EARLY(
      "EXE-941",
      "the run cannot be archived yet: nothing was moved",
      "Close it with `writ close RUN`, and wait as long as policy's `archive_after_s` says."),
  ARCHIVE_HELD(
      "EXE-942",
      "a hold keeps the contents of the run where they are",
      "Release the hold with `writ hold release`; contents of a run that was archived before it"
          + " stay in the archive."),
  ARCHIVE_SEALED(
      "EXE-943",
      "contents of the run lie under keys, which an erasure destroys, and a bundle has them in the"
          + " clear: nothing was moved",
      "Keep it in the ledger; rules of retention can delete its contents."),
  CONTENT_ARCHIVED(
      "EXE-944",
      "the content was moved to the archive of closed runs",
      "Read it there: `writ output`, or `writ export RUN` for the whole bundle, where the archive"
          + " can be reached; a server needs the file `archive.address` in its data directory."),
  NOT_ARCHIVED(
      "EXE-945", "the run is not archived", "See `writ archive list`; `writ runs` lists all runs."),
  ARCHIVE_SHARED(
      "EXE-946",
      "other runs use every content of the run, so nothing of it leaves the ledger",
      "Archive the others, too; then archive it again. Its bundle is in the archive already."),
  BUNDLE_MISSING(
      "EXE-947",
      "the archive does not have the bundle of an archived run",
      "Make sure that the archive is mounted. Else put the bundle back from a copy, under the same"
          + " name; `writ archive verify` tells whether it is the right one."),
  BUNDLE_DIFFERS(
      "EXE-948",
      "what the archive has is not the bundle that the log names",
      "Move that file away and put the bundle back from a copy, under the same name; `writ archive"
          + " verify` tells whether it is the right one."),
  ARCHIVED_AND_ERASED(
      "EXE-949",
      "an operator's order of erasure covers the content, so it is not read from the archive",
      "Remove the bundle from the archive if it is still there: `writ archive list` names it."),

  ERASURE_HELD(
      "EXE-962",
      "a hold keeps contents that the order would erase",
      "Release the hold with `writ hold release`, or erase other runs one by one with `writ erase"
          + " --run`."),
  ERASURE_APART(
      "EXE-963",
      "contents are not erased where the executor is a process apart",
      "Its own ledger has the contents, too; delete them there by a rule of policy."),

  TENANT_NAMED(
      "EXE-964",
      "a key or a policy has named the tenant before: it stays in the cell that it has",
      "Place a tenant before its first key is enrolled and before a policy names it. `writ cells"
          + " list` says where it is."),
  CELL_UNKNOWN(
      "EXE-965",
      "the installation does not have the cell that the statement is about",
      "`writ cells list` shows the cells. An installation of one cell has nothing to place."),
  CELL_ELSEWHERE(
      "EXE-966",
      "the gateway that owns the cell stands in a region where the cell may not be: nothing is"
          + " decided, dispatched or shown",
      "A gateway in one of the cell's regions takes it over; start one. `writ cells list` shows the"
          + " regions, and `writ cells regions` changes them."),

  TENANT_ON_ITS_WAY(
      "EXE-967",
      "an operator moves the tenant to another cell, where it has not arrived: nothing was done",
      "Send it again in a moment. If it stays so, look whether its former cell and the new one have"
          + " owners (`GET /v1/cells`), and what their logs say of `tenant-not-moved`."),
  TENANT_NOT_THERE(
      "EXE-968",
      "a tenant is moved from the cell that it has to another one, after something has named it",
      "`writ cells list` says where it is. Until a key or a policy has named it, state its cell"
          + " with `writ cells place`."),
  TENANT_MOVES(
      "EXE-969",
      "the tenant's former move has not ended",
      "`writ cells move` with that tenant and cell waits for it. What it waits for, the logs of the"
          + " cells' owners say with `tenant-not-moved`."),
  LEFT_BEHIND(
      "EXE-998",
      "the tenant's former cell has this request or run, which does not go on in another cell:"
          + " nothing was done",
      "Sign a new request, in a run with a new name. What there is of the earlier one is read in"
          + " that cell: `--cell`, or the header `Writ-Cell`."),

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
