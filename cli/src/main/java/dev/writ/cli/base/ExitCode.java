package dev.writ.cli.base;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.cli.error.BackupError;
import dev.writ.cli.error.CliError;
import dev.writ.client.error.ClientError;
import dev.writ.conform.ConformError;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.error.SignerError;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.error.GatewayError;
import dev.writ.ledger.error.LedgerError;
import dev.writ.replay.error.ReplayError;
import dev.writ.sinks.error.SinkError;
import dev.writ.tools.error.ToolsError;
import dev.writ.verify.error.BundleError;
import java.util.Map;
import java.util.TreeMap;

/** How a command ended, for scripts. Exit codes are named only here. */
public enum ExitCode {
  OK(0, "done; what was asked for holds"),
  REFUSED(1, "refused: a denial, or an effect that failed; the receipt or message says why"),
  USAGE(2, "the command line is not understood"),
  DIVERGED(3, "a replay or a comparison found another outcome than the recorded one"),
  BROKEN_INPUT(4, "a document, key or file is malformed, tampered with or missing"),
  INTEGRITY_ONLY(5, "intact, but its signers are not pinned"),
  UNAVAILABLE(6, "locked, no permission, no space, or something needed is not there"),
  PENDING(7, "escalated: waits for an approval"),
  LEDGER_STOPPED(8, "the ledger failed while it was served; start the server again"),
  INTERNAL(70, "an unexpected failure in Writ; a log was written"),
  INTERRUPTED(130, "stopped by Ctrl-C");

  private final int status;
  private final String meaning;

  ExitCode(int status, String meaning) {
    this.status = status;
    this.meaning = meaning;
  }

  /** The process's exit status, 0 to 255. */
  public int status() {
    return status;
  }

  public String meaning() {
    return meaning;
  }

  /**
   * The exit code of a command that was refused with this code; internal if the prefix is unknown.
   */
  public static ExitCode of(ErrorCode code) {
    ExitCode exact = Refusals.BY_CODE.get(code.code());
    if (exact != null) {
      return exact;
    }
    if (code.code().startsWith(Refusals.POLICY_FILE)) {
      return BROKEN_INPUT;
    }
    return Refusals.BY_PREFIX.getOrDefault(code.code().split("[-_]", 2)[0], INTERNAL);
  }

  /** Apart, because a command that is not refused has no need of the codes of every module. */
  private static final class Refusals {
    /**
     * The exit code for a code's prefix, used if {@link #BY_CODE} has no entry for the whole code.
     */
    private static final Map<String, ExitCode> BY_PREFIX =
        new TreeMap<>(
            Map.ofEntries(
                Map.entry("CAN", BROKEN_INPUT),
                Map.entry("GRD", REFUSED),
                Map.entry("LED", UNAVAILABLE),
                Map.entry("EXE", REFUSED),
                Map.entry("SBX", UNAVAILABLE),
                Map.entry("TOL", REFUSED),
                Map.entry("RPL", BROKEN_INPUT),
                Map.entry("CNF", UNAVAILABLE),
                Map.entry("GWY", REFUSED),
                Map.entry("SNK", UNAVAILABLE),
                Map.entry("SGN", UNAVAILABLE),
                Map.entry("PGS", UNAVAILABLE),
                Map.entry("BAK", BROKEN_INPUT),
                Map.entry("PRC", BROKEN_INPUT),
                Map.entry("OBJ", UNAVAILABLE),
                Map.entry("ERR", REFUSED)));

    private static final Map<String, ExitCode> BY_CODE =
        new TreeMap<>(
            Map.ofEntries(
                Map.entry(CliError.USAGE.code(), USAGE),
                Map.entry(EmbedError.KEY_NAME.code(), USAGE),
                Map.entry(EmbedError.KEY_ELSEWHERE.code(), BROKEN_INPUT),
                Map.entry(EmbedError.KEY_FOLDER.code(), UNAVAILABLE),
                // No supervisor is to try it again: a token locks itself after a few.
                Map.entry(SignerError.TOKEN_PIN.code(), BROKEN_INPUT),
                Map.entry(EmbedError.KEY_STAYS.code(), USAGE),
                Map.entry(EmbedError.CELLS_ADDRESS.code(), USAGE),
                Map.entry(EmbedError.NO_CELL.code(), USAGE),
                Map.entry(EmbedError.NO_ARCHIVE.code(), UNAVAILABLE),
                Map.entry(EmbedError.OTHER_ARCHIVE.code(), UNAVAILABLE),
                Map.entry(ExecutorError.BUNDLE_MISSING.code(), BROKEN_INPUT),
                Map.entry(ExecutorError.BUNDLE_DIFFERS.code(), BROKEN_INPUT),
                Map.entry(CliError.PARAMETER.code(), USAGE),
                Map.entry(CliError.IMPORT_FILE.code(), BROKEN_INPUT),
                Map.entry(CliError.IMPORT_CHANGED.code(), BROKEN_INPUT),
                Map.entry(CliError.IMPORT_NONE.code(), BROKEN_INPUT),
                Map.entry(CliError.IMPORT_ENTRY.code(), REFUSED),
                Map.entry(EmbedError.TOOL_AMBIGUOUS.code(), USAGE),
                Map.entry(ToolsError.PACKAGE_IO.code(), UNAVAILABLE),
                Map.entry(ToolsError.SECRET_IO.code(), UNAVAILABLE),
                Map.entry(EmbedError.FILE_UNREADABLE.code(), BROKEN_INPUT),
                Map.entry(EmbedError.NOT_FOUND.code(), BROKEN_INPUT),
                Map.entry(EmbedError.FILE_UNWRITABLE.code(), UNAVAILABLE),
                Map.entry(EmbedError.FILE_EXISTS.code(), UNAVAILABLE),
                Map.entry(CliError.OUTPUT_CLOSED.code(), UNAVAILABLE),
                Map.entry(CliError.BROWSER_MISSING.code(), UNAVAILABLE),
                Map.entry(CliError.PRINTING_FAILED.code(), UNAVAILABLE),
                Map.entry(EmbedError.NO_HOME.code(), UNAVAILABLE),
                Map.entry(EmbedError.HOME_EXISTS.code(), UNAVAILABLE),
                Map.entry(EmbedError.HOME_FORMAT.code(), UNAVAILABLE),
                Map.entry(EmbedError.JOIN_FILE.code(), BROKEN_INPUT),
                Map.entry(EmbedError.SANDBOX_PLACE.code(), UNAVAILABLE),
                Map.entry(EmbedError.NO_OUTPUT.code(), REFUSED),
                Map.entry(EmbedError.APPROVER_ROLE.code(), USAGE),
                Map.entry(CliError.ARCHIVE_SECRET.code(), REFUSED),
                Map.entry(CliError.OTHER_LOG_KEY.code(), REFUSED),
                Map.entry(CliError.NOTHING_BETWEEN.code(), REFUSED),
                Map.entry(CliError.FEW_DESCRIPTORS.code(), UNAVAILABLE),
                Map.entry(CliError.FEW_THREADS.code(), UNAVAILABLE),
                Map.entry(CliError.POLICY_TEXT.code(), BROKEN_INPUT),
                Map.entry(CliError.POLICY_CHANGED.code(), UNAVAILABLE),
                Map.entry(CliError.NO_SERVER.code(), UNAVAILABLE),
                Map.entry(CliError.LOGIN_UNANSWERED.code(), UNAVAILABLE),
                Map.entry(CliError.HOOK_INPUT.code(), USAGE),
                Map.entry(CliError.HOOK_EVENT.code(), USAGE),
                Map.entry(CliError.SETUP_FILE.code(), BROKEN_INPUT),
                Map.entry(CliError.SETUP_FOREIGN.code(), REFUSED),
                Map.entry(CliError.SETUP_PLACE.code(), UNAVAILABLE),
                Map.entry(CliError.NOTHING_SEEN.code(), BROKEN_INPUT),
                Map.entry(CliError.WITNESSES_FEW.code(), UNAVAILABLE),
                Map.entry(CliError.WITNESS_FORK.code(), BROKEN_INPUT),
                Map.entry(CliError.LOGS_DIFFER.code(), BROKEN_INPUT),
                Map.entry(CliError.WITNESS_REFUSED.code(), REFUSED),
                Map.entry(CliError.WITNESS_UNANSWERED.code(), UNAVAILABLE),
                Map.entry(CliError.PLACE_FORK.code(), BROKEN_INPUT),
                Map.entry(CliError.PLACE_UNUSABLE.code(), UNAVAILABLE),
                Map.entry(CliError.STAMP_UNANSWERED.code(), UNAVAILABLE),
                Map.entry(CliError.NOT_STATED.code(), UNAVAILABLE),
                Map.entry(CliError.NOT_ARRIVED.code(), UNAVAILABLE),
                Map.entry(CliError.LAST_OPERATOR.code(), REFUSED),
                Map.entry(BundleError.NO_PROOF_BETWEEN.code(), UNAVAILABLE),
                Map.entry(BundleError.STORAGE.code(), UNAVAILABLE),
                Map.entry(ConformError.INDEX_MALFORMED.code(), BROKEN_INPUT),
                Map.entry(ConformError.VECTOR_CHANGED.code(), BROKEN_INPUT),
                Map.entry(ConformError.VECTOR_UNLISTED.code(), BROKEN_INPUT),
                Map.entry(ConformError.VECTOR_MALFORMED.code(), BROKEN_INPUT),
                Map.entry(ReplayError.DIVERGED.code(), DIVERGED),
                Map.entry(ReplayError.DIVERGED_MISSING.code(), DIVERGED),
                Map.entry(ReplayError.DIVERGED_EXTRA.code(), DIVERGED),
                Map.entry(ReplayError.DIVERGED_OUTCOME.code(), DIVERGED),
                Map.entry(ReplayError.KERNEL_UNKNOWN.code(), UNAVAILABLE),
                Map.entry(LedgerError.CORRUPT.code(), BROKEN_INPUT),
                Map.entry(LedgerError.ANCHOR_MALFORMED.code(), BROKEN_INPUT),
                Map.entry(LedgerError.BLOB_CORRUPT.code(), BROKEN_INPUT),
                Map.entry(LedgerError.PROOF_LENGTH.code(), BROKEN_INPUT),
                Map.entry(LedgerError.PROOF_ROOT.code(), BROKEN_INPUT),
                Map.entry(LedgerError.SEAL_WRONG.code(), BROKEN_INPUT),
                Map.entry(LedgerError.NOTE_MALFORMED.code(), BROKEN_INPUT),
                Map.entry(LedgerError.CHECKPOINT_MALFORMED.code(), BROKEN_INPUT),
                Map.entry(LedgerError.NOTE_SIGNATURE.code(), BROKEN_INPUT),
                Map.entry(LedgerError.NOTE_UNSIGNED.code(), BROKEN_INPUT),
                Map.entry(LedgerError.CHECKPOINT_ORIGIN.code(), BROKEN_INPUT),
                Map.entry(LedgerError.KEY_TEXT.code(), BROKEN_INPUT),
                Map.entry(LedgerError.COSIGNATURE_TIME.code(), BROKEN_INPUT),
                Map.entry(BundleError.NOT_COVERED.code(), UNAVAILABLE),
                Map.entry(BundleError.TOOL_MISSING.code(), UNAVAILABLE),
                Map.entry(BundleError.CONTENT_MISSING.code(), UNAVAILABLE),
                Map.entry(ReplayError.REPORT_BOUNDS.code(), UNAVAILABLE),
                Map.entry(GatewayError.CONFIG_UNREADABLE.code(), BROKEN_INPUT),
                Map.entry(GatewayError.CONFIG_FIELD.code(), BROKEN_INPUT),
                Map.entry(GatewayError.LISTEN_FAILED.code(), UNAVAILABLE),
                Map.entry(GatewayError.SECRET_UNREADABLE.code(), UNAVAILABLE),
                Map.entry(GatewayError.TLS_UNUSABLE.code(), UNAVAILABLE),
                Map.entry(GatewayError.TENANT_BUSY.code(), UNAVAILABLE),
                Map.entry(GatewayError.SERVER_BUSY.code(), UNAVAILABLE),
                Map.entry(GatewayError.DRAINING.code(), UNAVAILABLE),
                Map.entry(GatewayError.STORAGE.code(), UNAVAILABLE),
                Map.entry(ClientError.NO_ANSWER.code(), UNAVAILABLE),
                Map.entry(SinkError.UNKNOWN.code(), BROKEN_INPUT),
                Map.entry(SinkError.ORDER.code(), BROKEN_INPUT),
                Map.entry(SinkError.NO_INCIDENT.code(), BROKEN_INPUT),
                Map.entry(GatewayError.INTERNAL.code(), UNAVAILABLE),
                Map.entry(ClientError.ANSWER_REFUSED.code(), BROKEN_INPUT),
                Map.entry(BackupError.FOREIGN.code(), REFUSED),
                Map.entry(BackupError.BEHIND.code(), REFUSED),
                Map.entry(BackupError.IN_USE.code(), UNAVAILABLE),
                Map.entry(BackupError.SECRETS.code(), REFUSED),
                Map.entry(BackupError.RECIPIENTS_CHANGED.code(), REFUSED),
                Map.entry(BackupError.LOSS.code(), REFUSED),
                Map.entry(BackupError.KEYS_ABSENT.code(), UNAVAILABLE),
                Map.entry(BackupError.FORMAT.code(), UNAVAILABLE),
                Map.entry(CliError.INTERNAL.code(), INTERNAL)));

    /** What is wrong with a policy's file, and with no request. */
    private static final String POLICY_FILE = "GRD-5";

    private Refusals() {}
  }
}
