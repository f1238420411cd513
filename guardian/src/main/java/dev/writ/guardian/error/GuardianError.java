package dev.writ.guardian.error;

import dev.writ.canonicalize.ErrorCode;
import java.util.Arrays;
import java.util.Optional;

/**
 * The refusals of this module: 0xx admission, 1xx to 4xx the four checks (PRG, budget, temporal,
 * envelope), 5xx the policy file, 60x and 61x delegations and approvals, 62x mandates, 72x runs of
 * surfaces.
 */
public enum GuardianError implements ErrorCode {
  LIST_ORDER(
      "GRD-001", "a list is not sorted or names something twice", "Sort it; name each once."),
  REQUEST_TOO_LARGE(
      "GRD-002", "the request is larger than policy allows", "Send large content as a blob."),
  SIGNER_MISMATCH(
      "GRD-003",
      "the request names another tenant or subject than its key",
      "Sign with a key of that tenant and subject."),
  REQUEST_FROM_FUTURE(
      "GRD-004", "the request was made in the future", "Set the clock of the sender."),
  REQUEST_TOO_OLD("GRD-005", "the request is too old", "Sign a new request."),
  PRINCIPAL_UNKNOWN(
      "GRD-006",
      "the subject is no principal of this policy",
      "Add it to principals, or ask as another subject."),
  NONCE_REUSED(
      "GRD-007", "the nonce was used by another request", "Sign the request with a new nonce."),
  ORIGIN_REFUSED(
      "GRD-008",
      "a surface may not vouch for this request",
      "State the origin where a surface signs, leave it out where an agent does, and let policy"
          + " name the surface."),
  TOOL_UNKNOWN(
      "GRD-009",
      "policy approves no such tool",
      "Ask for a tool and version that policy lists, or have it approved."),
  EVIDENCE_FOREIGN(
      "GRD-010",
      "evidence was submitted that the request does not name",
      "Name its digest in evidence."),
  REQUEST_SETTLED("GRD-011", "the request was judged and served already", "Fetch its receipt."),
  REQUEST_NEVER_SEEN(
      "GRD-012",
      "the request is too old to be admitted, and this ledger never received it",
      "Nothing was done for it; sign a new one if you still want it."),
  JUDGED_LATE(
      "GRD-013",
      "the clock reading of a judgement is far behind those of others",
      "Nothing was done; try again."),
  REQUEST_RECEIVED_AHEAD(
      "GRD-015",
      "the request was received under a clock that was corrected since",
      "Sign a new request."),

  PRG_NO_RULE(
      "GRD-101", "no requirement covers this effect", "Add a requirement for it to the policy."),
  PRG_UNMET(
      "GRD-102",
      "the requirement does not hold",
      "See `writ policy explain` for the findings of each node."),
  PRG_ERROR(
      "GRD-103",
      "an expression of the requirement failed",
      "Guard optional parameters with has(); see `writ policy explain`."),
  PRG_APPROVAL_NEEDED(
      "GRD-104",
      "approvals are missing",
      "Have the approvers that the requirement names approve it."),
  PRG_REJECTED("GRD-105", "an approver rejected it", "Make another request."),

  BUDGET_EXHAUSTED(
      "GRD-201", "a budget is exhausted", "Wait for the next window, or have the budget raised."),
  BUDGET_UNKNOWN(
      "GRD-202",
      "the state of a budget is UNKNOWN",
      "Judge with the accounts that the policy's budgets ask for."),
  BUDGET_NONE(
      "GRD-203",
      "no calls budget covers this effect",
      "Add one; limit: unlimited is possible, too."),
  BUDGET_NO_PRICE("GRD-204", "the tool has no price", "Add it to prices."),

  TEMPORAL_AGE("GRD-301", "the request was outside its age when received", "Sign a new request."),
  TEMPORAL_HOURS("GRD-302", "it is outside the allowed hours", "Ask again within them."),
  TEMPORAL_RATE("GRD-303", "a rate limit is reached", "Ask again later."),
  TEMPORAL_RATE_UNKNOWN(
      "GRD-304",
      "the state of a rate limit is UNKNOWN",
      "Judge with the accounts that the policy's rates ask for."),
  TEMPORAL_ORDER(
      "GRD-305", "another effect must come first", "Run that effect to success in this run first."),
  TEMPORAL_ORDER_UNKNOWN(
      "GRD-306", "the history of the run is UNKNOWN", "Judge with the run's history."),
  TEMPORAL_NONCE(
      "GRD-307",
      "the nonce had been used when this was judged",
      "Sign the request with a new nonce."),
  TEMPORAL_PENDING("GRD-308", "the request was pending for too long", "Sign a new request."),

  ENVELOPE_TOOL(
      "GRD-401",
      "the manifest is not the tool package that policy approves",
      "Use the approved package, or have this one approved."),
  ENVELOPE_OPERATION("GRD-402", "the tool has no such operation", "See the tool's manifest."),
  ENVELOPE_PARAMS("GRD-403", "the params do not fit the operation's schema", "See the schema."),
  ENVELOPE_MANIFEST_RESOURCES(
      "GRD-404", "more is declared than the tool may use", "Declare less; see resources_max."),
  ENVELOPE_ROLE_TOOL("GRD-405", "no role of the subject may use this", "Ask for a role that may."),
  ENVELOPE_ROLE_RESOURCES(
      "GRD-406",
      "more is declared than the role may use",
      "Declare less; see the role's resources."),
  ENVELOPE_SANDBOX(
      "GRD-407", "the sandbox profile is not allowed", "Use one that tool and role both name."),
  ENVELOPE_PATH(
      "GRD-408", "a path is not allowed", "Use a relative path under those that the role names."),
  ENVELOPE_ENVIRONMENT(
      "GRD-409", "an environment variable is not allowed", "Use those that the role names."),
  ENVELOPE_NETWORK("GRD-410", "a network address is not allowed", "Use those that the role names."),
  ENVELOPE_WORKSPACE(
      "GRD-411",
      "the workspace is not pinned as it must be",
      "Set workspace_before to the tree's digest where the tool uses the workspace."),
  ENVELOPE_SECRET(
      "GRD-412",
      "a secret is not granted",
      "Name secrets that policy grants to this tenant, role and tool; see spec/secrets.md."),
  ENVELOPE_COMMAND(
      "GRD-413", "a program is not among those of the role", "Use those that the role names."),
  ENVELOPE_APPROVAL(
      "GRD-414",
      "the sandbox profile is for approved requests, and this one has no approval",
      "Write a requirement of approvals for the effect, and have the request approved."),
  ENVELOPE_SWITCHED_OFF(
      "GRD-415",
      "a feature flag of policy switches this off",
      "Wait until policy switches it on for this tenant, tool and category; see `writ policy"
          + " explain`."),
  ENVELOPE_STAGE(
      "GRD-416",
      "the tool's version does not run here: it is a draft, retired, revoked, or tried out"
          + " elsewhere",
      "Name another version, or have it rolled out; see `writ tool status`."),
  SCHEMA_REFUSED(
      "GRD-420",
      "a schema or capability of a tool manifest is not acceptable",
      "Write it as spec/tool-manifest.md says."),
  OUTPUT_SCHEMA("GRD-421", "an output does not fit the operation's schema", "Correct the tool."),
  SCHEMA_MALFORMED(
      "GRD-422",
      "a schema of a tool is not valid JSON Schema 2020-12, and would check nothing",
      "Correct what the message names; spec/tool-manifest.md has the rules."),

  POLICY_SYNTAX("GRD-501", "the file is not YAML or JSON", "Correct the syntax."),
  POLICY_KEY_UNKNOWN("GRD-502", "a key is not known here", "Leave it out; see spec/policy.md."),
  POLICY_KEY_MISSING("GRD-503", "a key is missing", "Add it; see spec/policy.md."),
  POLICY_TYPE("GRD-504", "a value has another type than it must", "See spec/policy.md."),
  POLICY_VALUE("GRD-505", "a value is not allowed", "See spec/policy.md."),
  POLICY_DUPLICATE("GRD-506", "something is named twice", "Name each once."),
  POLICY_YAML(
      "GRD-507",
      "the file uses a YAML feature that is not allowed",
      "Write plain mappings, lists and scalars: no anchors, aliases, tags or second documents."),
  POLICY_TOO_LARGE("GRD-508", "the file is too large or nested too deeply", "Make it smaller."),
  POLICY_CEL("GRD-509", "an expression cannot be used", "Correct the CEL expression."),
  POLICY_REFERENCE(
      "GRD-510", "something is named that is not defined", "Define it, or correct the name."),
  POLICY_LIMIT_UNWRITTEN(
      "GRD-511", "a limit is not written", "Write it; to set none, write limit: unlimited."),
  POLICY_NOT_CANONICAL(
      "GRD-512", "the document is not in canonical form", "Use the document that Writ wrote."),

  DELEGATION_COUNT("GRD-601", "there are too many delegations", "Use at most four links."),
  DELEGATION_CHAIN(
      "GRD-602",
      "the delegations are no chain to the signer",
      "Begin with the principal's; each from is the last to; end with the request's signer."),
  DELEGATION_SCOPE(
      "GRD-603",
      "a delegation does not cover this",
      "Keep to the tenant and tools that every link names."),
  DELEGATION_TIME(
      "GRD-604",
      "a delegation is outside its time, or longer than the one before",
      "Have it signed again; a link ends no later than the one before."),
  DELEGATION_DEPTH(
      "GRD-605", "a delegation's depth does not fall", "Each depth is less than the one before."),
  DELEGATION_SIGNER(
      "GRD-606", "a delegation is not signed by its giver", "Have its from key sign it."),
  DOCUMENT_REVOKED("GRD-607", "policy revokes this document", "Have it issued again."),
  APPROVAL_OTHER(
      "GRD-610",
      "the approval is for something else",
      "Approve exactly this request, effect, policy and tenant."),
  APPROVAL_TIME("GRD-611", "the approval is outside its time", "Approve again."),
  APPROVAL_SELF(
      "GRD-612",
      "the approver takes part in the request",
      "Ask an approver who is neither subject, agent nor delegator."),
  APPROVAL_ROLE(
      "GRD-613", "the approver does not hold that role", "Add it to approvers, or ask another."),
  APPROVAL_SIGNER("GRD-614", "the approval is not signed by its approver", "Sign it as approver."),

  MANDATE_FORM(
      "GRD-620",
      "the mandate is not an SD-JWT of the form that is taken",
      "Bring the issuer's SD-JWT as it is; spec/mandate.md has the form and its limits."),
  MANDATE_ISSUER(
      "GRD-621",
      "the mandate is not signed by an issuer that policy trusts",
      "Bring one of an issuer in policy's mandates, or have the issuer's key added there."),
  MANDATE_TIME("GRD-622", "the mandate is outside its time", "Have the issuer give a new mandate."),
  MANDATE_DISCLOSURE(
      "GRD-623",
      "the disclosures do not fit the mandate, or hide what limits it",
      "Bring every disclosure once, unchanged; only allowed payees may be left out."),
  MANDATE_BINDING(
      "GRD-624",
      "the mandate is not bound to this request by its holder's key",
      "Sign a new key binding JWT over the request's challenge; see spec/mandate.md, Binding."),
  MANDATE_LIMIT(
      "GRD-625",
      "the mandate is limited in a way that cannot be kept here, or not at all",
      "Have a mandate issued with the limits that spec/mandate.md lists."),
  MANDATE_MISSING(
      "GRD-626",
      "no mandate of the kind that the requirement asks for was brought",
      "Bring a mandate of that type and issuer as evidence; see `writ policy explain`."),
  MANDATE_PAYEE(
      "GRD-627",
      "the payee is not one of the mandate's",
      "Pay a payee of the mandate, or disclose the one that is meant."),
  MANDATE_AMOUNT(
      "GRD-628",
      "the amount or currency is not within the mandate",
      "Ask for an amount within the mandate, in its currency and smallest unit."),
  MANDATE_SPENT(
      "GRD-629",
      "the mandate was used up by earlier calls",
      "Have the issuer give a new mandate; its total and number of uses never begin anew."),

  RUN_FOREIGN(
      "GRD-721",
      "the run was opened by or for somebody else",
      "Use a run of your own, or have policy share it: runs, shared_by.");

  private final Entry entry;

  GuardianError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  /** The error of a code that a document states; a code that is none is not here. */
  public static Optional<GuardianError> of(String code) {
    return Arrays.stream(values()).filter(error -> error.code().equals(code)).findFirst();
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
